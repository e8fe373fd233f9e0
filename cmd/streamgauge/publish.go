package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/data"
)

// branchFlags say where the branch is that holds the record.
type branchFlags struct {
	Repo     string `placeholder:"URL|DIR" help:"Repository with the record; on GitHub the job's own if not given."`
	Branch   string `default:"data" help:"Branch of it that holds the record."`
	Instance string `placeholder:"ID" help:"Whose record this is. Another's is not continued but begun anew, so that a fork inherits nothing. On GitHub the repository's number if not given."`
	TokenEnv string `default:"GITHUB_TOKEN" help:"Variable with the token for a repository on https. It stays out of command lines and messages."`
}

// branch returns the branch with its working copy in dir.
func (f *branchFlags) branch(a *app, dir string) (*data.Branch, error) {
	value := func(name string) string { v, _ := a.env(name); return v }
	remote, instance := f.Repo, f.Instance
	own := value("GITHUB_REPOSITORY")
	if remote == "" && own != "" && value("GITHUB_SERVER_URL") != "" {
		remote = value("GITHUB_SERVER_URL") + "/" + own
	}
	if remote == "" {
		return nil, usageError{fmt.Errorf("say which repository holds the record: --repo URL or --repo DIR")}
	}
	if _, err := os.Stat(remote); err == nil {
		if remote, err = filepath.Abs(remote); err != nil {
			return nil, fmt.Errorf("find the repository: %w", err)
		}
	}
	if number := value("GITHUB_REPOSITORY_ID"); instance == "" && number != "" {
		instance = "github:" + number + " " + own // the number outlives a change of name
	}
	return &data.Branch{
		Remote: remote, Name: f.Branch, Dir: dir, Instance: instance, Env: gitEnv(a.env),
		Token: func() (string, error) { return value(f.TokenEnv), nil },
		Wait: func(ctx context.Context, try int) error {
			wait := time.Second + rand.N(min(30*time.Second, 2*time.Second<<try))
			a.log.Info("the push did not arrive; again on the new tip", "try", try, "in", wait.Round(time.Second))
			return sleepUntil(ctx, time.Now().Add(wait))
		},
		Step: func(s data.Step) { a.log.Debug("branch", "step", s) },
	}, nil
}

// gitEnv returns what git may see of the environment: where programs and its
// own configuration are, how to reach the network, and no key of a provider's.
func gitEnv(env bench.Lookup) []string {
	var list []string
	for _, name := range []string{
		"PATH", "HOME", "USER", "XDG_CONFIG_HOME", "TMPDIR", "TEMP", "SYSTEMROOT", "USERPROFILE", "APPDATA",
		"SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_CONFIG_GLOBAL",
		"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy",
	} {
		if v, ok := env(name); ok {
			list = append(list, name+"="+v)
		}
	}
	return list
}

// fetchCmd fetches the record from its branch.
type fetchCmd struct {
	branchFlags
	Data string `default:"data" type:"path" help:"Working copy of the branch: missing, empty, or made by this command. Only journals and traces in it are kept."`
}

// Help is printed under the usage line.
func (fetchCmd) Help() string {
	return "A record that cannot be read is an error and never an empty one. Example: streamgauge fetch --repo https://github.com/owner/name --data record"
}

// Run fetches.
func (c *fetchCmd) Run(a *app) error {
	branch, err := c.branch(a, c.Data)
	if err != nil {
		return err
	}
	tip, err := branch.Fetch(a.ctx)
	if err != nil {
		return err
	}
	a.sayFresh(tip)
	fmt.Fprintf(a.stdout, "%s: %s\n", c.Data, describeTip(tip))
	return nil
}

// sayFresh says aloud that a record begins anew.
func (a *app) sayFresh(tip data.Tip) {
	switch {
	case tip.Fresh != "" && tip.Commit != "":
		a.log.Warn("A NEW RECORD BEGINS", "because", tip.Fresh, "the_old_tip_stays_its_parent", tip.Commit)
	case tip.Fresh != "":
		a.log.Info("a new record begins", "because", tip.Fresh)
	}
}

func describeTip(tip data.Tip) string {
	if tip.Fresh != "" {
		return "a new record, as " + tip.Fresh
	}
	return "the record at " + tip.Commit
}

// publishCmd puts journals into the record and pushes it.
type publishCmd struct {
	branchFlags
	publishFlags
	recordFlags
}

// publishFlags say what is published.
type publishFlags struct {
	Journals []string      `placeholder:"PATH" type:"path" help:"Journals, or folders with journals at any depth. Those in DATA/journals are always taken."`
	Lists    []string      `name:"models" placeholder:"DIR" type:"path" help:"Folders with the model lists and prices that measuring jobs read."`
	Left     bool          `name:"artifacts" help:"Also take journals that other jobs of this GitHub repository left as artifacts within eight days."`
	MaxAge   time.Duration `placeholder:"DURATION" help:"Refuse samples older than this."`
	Keep     bool          `help:"Leave the journals where they are after they were pushed."`
}

// Help is printed under the usage line.
func (publishCmd) Help() string {
	return `Fetches the branch, ingests, rolls up, checks, commits, pushes, and asks the repository whether the push arrived. If
another writer came first, all of it is done again on the new tip. Journals are removed only after that; those with
lines that are no samples of a configured provider are renamed to *.refused. A refused push is a failure.

Examples:
  streamgauge publish --repo https://github.com/owner/name --data record
  streamgauge publish --repo ../archive.git --data record --journals spool --keep`
}

// Run publishes.
func (c *publishCmd) Run(a *app) error {
	list, err := c.load(a)
	if err != nil {
		return err
	}
	branch, err := c.branch(a, c.Data)
	if err != nil {
		return err
	}
	return a.publishRecord(branch, list, &c.publishFlags)
}

// publishRecord puts what was measured into the record and pushes it.
func (a *app) publishRecord(branch *data.Branch, list []bench.Provider, f *publishFlags) error {
	files, err := findJournals(append([]string{journals(branch.Dir)}, f.Journals...))
	if err != nil {
		return err
	}
	if files, err = a.atRest(files); err != nil {
		return err
	}
	// Fetching clears the working copy, so what bench left there is read first.
	lists, err := readLists(list, append([]string{filepath.Join(branch.Dir, "models")}, f.Lists...))
	if err != nil {
		return err
	}
	spool, err := os.MkdirTemp("", "streamgauge-artifacts-")
	if err != nil {
		return fmt.Errorf("make room for artifacts: %w", err)
	}
	defer os.RemoveAll(spool)
	var left *archive
	if f.Left {
		token, err := branch.Token()
		if err != nil {
			return err
		}
		left = archiveOf(a, token)
	}
	var d *delivery
	var text string
	done, err := branch.Publish(a.ctx, func(ctx context.Context, store *data.Store) (string, error) {
		b := *a
		b.ctx = ctx
		d = &delivery{app: &b, store: store, list: list, now: time.Now(), maxAge: f.MaxAge, left: left, spool: spool}
		if err := d.ingest(files); err != nil {
			return "", err
		}
		if err := lists.write(filepath.Join(store.Dir(), "models")); err != nil {
			return "", err
		}
		if err := b.closeBooks(store, list, d.now); err != nil {
			return "", err
		}
		if text, err = d.message(); err != nil {
			return "", err
		}
		if err := b.refuse("the commit message", []byte(text)); err != nil {
			return "", err
		}
		// The rest can be told from the record, and a commit is pushed every time.
		subject, _, _ := strings.Cut(text, "\n")
		return subject, b.scan(store.Dir())
	})
	if done.Fresh != "" {
		a.sayFresh(done.Tip)
	}
	if err != nil {
		return err
	}
	if !f.Keep {
		if err := d.dispose(); err != nil {
			return err
		}
	}
	if done.Fresh != "" {
		text += "\nA new record begins: " + done.Fresh + ".\n"
	}
	if !done.Changed {
		text += "\nNothing new: the branch stays at " + done.Commit + ".\n"
	} else {
		text += fmt.Sprintf("\nPushed as %s, verified; tries: %d.\n", done.Commit, done.Tries)
	}
	_, err = fmt.Fprint(a.stdout, text)
	return err
}

// findJournals returns the journals under paths, which may be files or folders,
// or missing.
func findJournals(paths []string) ([]string, error) {
	var files []string
	for _, root := range paths {
		err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
			switch {
			case os.IsNotExist(err) && path == root:
				return nil
			case err != nil:
				return err
			case e.Type().IsRegular() && (path == root || strings.HasSuffix(path, ".ndjson")):
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("look for journals: %w", err)
		}
	}
	return files, nil
}
