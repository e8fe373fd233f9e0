package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// serveCmd serves a built site, and runs ticks as a daemon if asked to.
type serveCmd struct {
	Addr string `default:"127.0.0.1:8080" help:"Address to listen on; port 0 picks a free one; with --schedule an empty one serves nothing."`
	daemonFlags
	recordFlags
	measureFlags
	siteFlags
}

// Help is printed under the usage line.
func (serveCmd) Help() string {
	return `With --schedule it is a daemon: it runs the same ticks as the scheduled job, one at a time, on a record in a
directory, or with --repo on the branch of a repository. A second daemon on the same directory is refused. SIGTERM
stops it; what was measured is kept.

Examples:
  streamgauge serve --site public --addr 127.0.0.1:0
  streamgauge serve --schedule "*/10 * * * *" --data record --site public --vantage office`
}

// Run serves until it is interrupted.
func (c *serveCmd) Run(a *app) error {
	if c.Schedule != "" {
		return a.daemon(c)
	}
	if _, err := os.Stat(filepath.Join(c.Site, "index.html")); err != nil {
		return fmt.Errorf("no site in %s (build one with 'streamgauge build' or 'streamgauge demo'): %w", c.Site, err)
	}
	return a.serveSite(c.Site, c.Addr)
}

// listen listens on an address of --addr. An empty one, which net takes for
// every interface of the machine, is refused.
func (a *app) listen(addr string) (net.Listener, error) {
	if addr == "" {
		return nil, usageError{errors.New("--addr is empty: name an address to listen on, such as 127.0.0.1:0")}
	}
	listener, err := (&net.ListenConfig{}).Listen(a.ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s (choose another with --addr): %w", addr, err)
	}
	return listener, nil
}

// serveSite serves dir on addr until the context ends, and prints where.
func (a *app) serveSite(dir, addr string) error {
	listener, err := a.listen(addr)
	if err != nil {
		return err
	}
	return a.serveOn(dir, listener)
}

// serveOn is serveSite on a listener, which it closes.
func (a *app) serveOn(dir string, listener net.Listener) error {
	server := &http.Server{Handler: siteHandler(dir), ReadHeaderTimeout: 10 * time.Second}
	stopped := context.AfterFunc(a.ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), 3*time.Second)
		defer cancel()
		_ = server.Shutdown(grace)
	})
	defer stopped()
	fmt.Fprintf(a.stdout, "Serving %s at http://%s/  (Ctrl-C stops)\n", dir, listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", dir, err)
	}
	return nil
}

// siteHandler serves the files of dir as GitHub Pages would: index.html for a
// folder, 404.html for what is missing, and no caching, as this is a preview.
func siteHandler(dir string) http.Handler {
	files := http.FileServer(http.Dir(dir))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		path := filepath.Join(dir, filepath.FromSlash(filepath.Clean("/"+r.URL.Path)))
		info, err := os.Stat(path)
		if err == nil && info.IsDir() {
			_, err = os.Stat(filepath.Join(path, "index.html"))
		}
		if err == nil {
			files.ServeHTTP(w, r)
			return
		}
		body, readErr := os.ReadFile(filepath.Join(dir, "404.html"))
		if readErr != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write(body)
	})
}
