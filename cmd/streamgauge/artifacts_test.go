package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// zipped returns a zip archive of files.
func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for name, text := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// TestArtifactsTaken offers artifacts of every kind and looks at which of them
// are downloaded.
func TestArtifactsTaken(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	type entry = map[string]any
	run := func(id, repository, head int, branch string) entry {
		return entry{"id": id, "repository_id": repository, "head_repository_id": head, "head_branch": branch}
	}
	list := []entry{
		{"id": 1, "name": "journal-10-1-shared", "workflow_run": run(10, 7, 7, "main")},
		{"id": 2, "name": "journal-11-1-shared", "workflow_run": run(11, 7, 7, "main")},               // known
		{"id": 3, "name": "journal-12-1-shared", "workflow_run": run(12, 7, 8, "main")},               // a fork's pull request
		{"id": 4, "name": "journal-13-1-shared", "workflow_run": run(13, 7, 7, "feature")},            // a branch's
		{"id": 5, "name": "journal-14-1-shared", "workflow_run": run(99, 7, 7, "main")},               // under another run's name
		{"id": 6, "name": "site", "workflow_run": run(15, 7, 7, "main")},                              // no journal
		{"id": 7, "name": "journal-16-1-../../x", "workflow_run": run(16, 7, 7, "main")},              // no name
		{"id": 8, "name": "journal-17-1-all", "expired": true, "workflow_run": run(17, 7, 7, "main")}, // gone
		{"id": 9, "name": "journal-18-1-all", "size_in_bytes": maxJournal + 1, "workflow_run": run(18, 7, 7, "main")},
		{"id": 10, "name": "journal-19-2-all", "workflow_run": run(19, 7, 7, "main")},
		{"id": 11, "name": "journal-20-1-all", "created_at": now.AddDate(0, 0, -9), "workflow_run": run(20, 7, 7, "main")}, // old
	}
	for _, e := range list {
		if e["created_at"] == nil {
			e["created_at"] = now.Add(-time.Hour)
		}
	}
	var downloaded []string
	blob := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the token went to where the files are")
		}
		_, _ = w.Write(zipped(t, map[string]string{"journals/a.ndjson": "{}\n", "../../../evil.ndjson": "{}\n", "models/x.json": "{}"}))
	}))
	defer blob.Close()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer token" {
			t.Errorf("Authorization is %q", got)
		}
		if r.URL.Path == "/repos/o/n/actions/artifacts" {
			_ = json.NewEncoder(w).Encode(map[string]any{"total_count": len(list), "artifacts": list})
			return
		}
		downloaded = append(downloaded, r.URL.Path)
		http.Redirect(w, r, strings.Replace(blob.URL, "127.0.0.1", "localhost", 1), http.StatusFound)
	}))
	defer api.Close()
	dir := t.TempDir()
	x := &archive{client: http.DefaultClient, api: api.URL, repo: "o/n", branch: "main", token: "token"}
	files, err := x.fetch(t.Context(), now, map[string]time.Time{"journal-11-1-shared": now}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/repos/o/n/actions/artifacts/1/zip", "/repos/o/n/actions/artifacts/10/zip"}; !slices.Equal(downloaded, want) {
		t.Errorf("downloaded %v; want %v", downloaded, want)
	}
	if len(files) != 4 {
		t.Errorf("files %v; want two of each", files)
	}
	for _, f := range files {
		name := filepath.Base(filepath.Dir(f))
		if rel, err := filepath.Rel(dir, f); err != nil || strings.HasPrefix(rel, "..") || artifactOf(f) != name {
			t.Errorf("unpacked to %s", f)
		}
	}
}

// TestArtifactBomb offers an archive that is small and unpacks to more than a
// journal may have.
func TestArtifactBomb(t *testing.T) {
	bomb := zipped(t, map[string]string{"a.ndjson": strings.Repeat("a", maxJournal+1)})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bomb) }))
	defer server.Close()
	x := &archive{client: http.DefaultClient, api: server.URL, repo: "o/n"}
	_, err := x.download(t.Context(), &artifactEntry{ID: 1, Name: "journal-1-1-all"}, t.TempDir())
	if err == nil || !strings.Contains(err.Error(), fmt.Sprint(maxJournal)) {
		t.Errorf("download = %v; want that it is too large", err)
	}
}

// TestArtifactNames gives names to artifacts and their shards.
func TestArtifactNames(t *testing.T) {
	for _, tt := range []struct{ file, artifact, shard string }{
		{"in/journal-7-1-shared/journals/a.ndjson", "journal-7-1-shared", "shared"},
		{"in/journal-7-1-all/a.ndjson", "journal-7-1-all", ""},
		{"record/journals/a.ndjson", "", ""},
		{"in/journal-x-1-all/a.ndjson", "", ""},
	} {
		if a, s := artifactOf(tt.file), shardOf(tt.file); a != tt.artifact || s != tt.shard {
			t.Errorf("%s: artifact %q, shard %q; want %q, %q", tt.file, a, s, tt.artifact, tt.shard)
		}
	}
}
