package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

const (
	artifactPages = 20                 // of a hundred artifacts that are looked through
	artifactAge   = 8 * 24 * time.Hour // how far back
	maxListing    = 8 << 20            // bytes of a page of the list
)

// An archive is where the jobs of a GitHub repository leave their artifacts.
// From it the writer takes the journals that a dead writer left, and those of
// runners that only measure.
type archive struct {
	client *http.Client
	api    string // e.g. https://api.github.com
	repo   string // owner/name
	branch string // artifacts of runs on another branch are not touched
	token  string

	uploaded map[string]time.Time // when the artifacts that were fetched were, by name
}

// archiveOf returns the archive of the job's own repository; nil off GitHub.
func archiveOf(a *app, token string) *archive {
	value := func(name string) string { v, _ := a.env(name); return v }
	x := &archive{
		client: &http.Client{Timeout: time.Minute},
		api:    value("GITHUB_API_URL"), repo: value("GITHUB_REPOSITORY"), branch: value("GITHUB_REF_NAME"), token: token,
	}
	if x.api == "" || x.repo == "" || x.branch == "" {
		return nil
	}
	return x
}

// An artifactEntry is an artifact as the list describes it. See GitHub, "REST
// API endpoints for GitHub Actions artifacts".
type artifactEntry struct {
	ID      int64     `json:"id"`
	Name    string    `json:"name"`
	Bytes   int64     `json:"size_in_bytes"`
	Expired bool      `json:"expired"`
	Created time.Time `json:"created_at"`
	Run     struct {
		ID         int64  `json:"id"`
		Repository int64  `json:"repository_id"`
		Head       int64  `json:"head_repository_id"`
		Branch     string `json:"head_branch"`
	} `json:"workflow_run"`
}

// ours reports whether an artifact holds journals of a job of this repository's
// own code. Anybody can have a pull request upload an artifact under any name:
// its run is of another repository, or of another branch.
func (e *artifactEntry) ours(branch string) bool {
	return artifact.MatchString(e.Name) && strings.HasPrefix(e.Name, fmt.Sprintf("journal-%d-", e.Run.ID)) &&
		e.Run.Repository != 0 && e.Run.Head == e.Run.Repository && e.Run.Branch == branch
}

// fetch downloads the journals of artifacts that known does not name into
// folders of their names below dir, and returns the files.
func (x *archive) fetch(ctx context.Context, now time.Time, known map[string]time.Time, dir string) ([]string, error) {
	var files []string
	for page := 1; page <= artifactPages; page++ {
		entries, err := x.list(ctx, page)
		if err != nil {
			return files, fmt.Errorf("list artifacts: %w", err)
		}
		for i := range entries {
			e := &entries[i]
			if now.Sub(e.Created) > artifactAge {
				return files, nil // they come newest first
			}
			if _, done := known[e.Name]; done || e.Expired || e.Bytes > maxJournal || !e.ours(x.branch) {
				continue
			}
			more, err := x.download(ctx, e, filepath.Join(dir, e.Name))
			if err != nil {
				return files, fmt.Errorf("download artifact %s: %w", e.Name, err)
			}
			files = append(files, more...)
			if x.uploaded == nil {
				x.uploaded = map[string]time.Time{}
			}
			x.uploaded[e.Name] = e.Created
		}
		if len(entries) < 100 {
			break
		}
	}
	return files, nil
}

func (x *archive) list(ctx context.Context, page int) ([]artifactEntry, error) {
	text, err := x.get(ctx, fmt.Sprintf("/repos/%s/actions/artifacts?per_page=100&page=%d", x.repo, page), maxListing)
	if err != nil {
		return nil, err
	}
	var list struct {
		Artifacts []artifactEntry `json:"artifacts"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	return list.Artifacts, nil
}

// download unpacks the journals of an artifact into one folder, whatever
// folders it has inside.
func (x *archive) download(ctx context.Context, e *artifactEntry, dir string) ([]string, error) {
	text, err := x.get(ctx, fmt.Sprintf("/repos/%s/actions/artifacts/%d/zip", x.repo, e.ID), maxJournal)
	if err != nil {
		return nil, err
	}
	packed, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var files []string
	room := int64(maxJournal)
	for i, entry := range packed.File {
		if !entry.Mode().IsRegular() || path.Ext(entry.Name) != ".ndjson" {
			continue
		}
		file := filepath.Join(dir, fmt.Sprintf("%d.ndjson", i))
		n, err := unpack(entry, file, room)
		if err != nil {
			return nil, err
		}
		room -= n
		files = append(files, file)
	}
	return files, nil
}

// unpack writes an entry of an archive to a file, at most room bytes.
func unpack(entry *zip.File, file string, room int64) (n int64, err error) {
	in, err := entry.Open()
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.Create(file)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(out, io.LimitReader(in, room+1))
	if err == nil && n > room {
		err = fmt.Errorf("more than %d bytes when unpacked", int64(maxJournal))
	}
	return n, errors.Join(err, out.Close())
}

// get reads at most limit bytes. A redirect to another host, as to where the
// files are, goes without the token, as net/http does it.
func (x *archive) get(ctx context.Context, where string, limit int64) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, x.api+where, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	if x.token != "" {
		req.Header.Set("Authorization", "Bearer "+x.token)
	}
	resp, err := x.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("HTTP status %d", resp.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return text, err
}
