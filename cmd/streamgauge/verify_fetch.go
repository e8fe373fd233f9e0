package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What is fetched of a published site, at most.
const (
	maxNumberFile   = 32 << 20  // bytes of one JSON or CSV file of its API and pages
	maxDownload     = 256 << 20 // bytes of one download
	maxDownloads    = 100       // files in its manifest
	maxRedirects    = 5
	answerTimeout   = 30 * time.Second // until an answer begins
	downloadTimeout = 10 * time.Minute // until it is there
)

// errNotPublished is wrapped when a site has no such file.
var errNotPublished = errors.New("not published")

// A publication is a published site: a folder, or an address.
type publication struct {
	root   *os.Root // nil for an address
	base   *url.URL
	client *http.Client
}

// openPublication opens a site by its folder or its address.
func openPublication(where string) (*publication, error) {
	if !strings.Contains(where, "://") {
		root, err := os.OpenRoot(where) // no link in it leads outside
		if err != nil {
			return nil, fmt.Errorf("open the published site: %w", err)
		}
		return &publication{root: root}, nil
	}
	base, err := url.Parse(where)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, usageError{fmt.Errorf("--against %q: want a folder or http(s)://host/path/", where)}
	}
	base.RawQuery, base.Fragment = "", ""
	base.Path, base.RawPath = strings.TrimSuffix(base.Path, "/")+"/", ""
	// The checksums are of files as they lie there, so nothing may be unpacked
	// on the way.
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: answerTimeout}).DialContext,
		TLSHandshakeTimeout: answerTimeout, ResponseHeaderTimeout: answerTimeout, DisableCompression: true,
		ForceAttemptHTTP2: true, MaxIdleConnsPerHost: verifyWorkers,
	}
	return &publication{base: base, client: &http.Client{Transport: transport, Timeout: downloadTimeout, CheckRedirect: sameHost}}, nil
}

// sameHost lets a redirect lead to another path, not to another host or scheme.
func sameHost(to *http.Request, via []*http.Request) error {
	from := via[0].URL
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("over %d redirects", maxRedirects)
	case to.URL.Host != from.Host || to.URL.Scheme != from.Scheme:
		return fmt.Errorf("redirected to %q, which is not %s://%s", to.URL.Scheme+"://"+to.URL.Host, from.Scheme, from.Host)
	}
	return nil
}

// close releases what the publication holds.
func (p *publication) close() {
	if p.root != nil {
		_ = p.root.Close() // it was only read
		return
	}
	p.client.CloseIdleConnections()
}

// open opens a file of the site by its path.
func (p *publication) open(ctx context.Context, name string) (io.ReadCloser, error) {
	if !fs.ValidPath(name) {
		return nil, fmt.Errorf("fetch %q: not a path inside the site", name)
	}
	if p.root != nil {
		f, err := p.root.Open(filepath.FromSlash(name))
		if errors.Is(err, fs.ErrNotExist) {
			err = errNotPublished
		}
		if err != nil {
			return nil, fmt.Errorf("fetch %s: %w", name, err)
		}
		return f, nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base.JoinPath(strings.Split(name, "/")...).String(), nil)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", name, err)
	}
	request.Header.Set("Accept-Encoding", "identity")
	request.Header.Set("User-Agent", "streamgauge-verify")
	answer, err := p.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", name, err)
	}
	switch {
	case answer.StatusCode == http.StatusOK && answer.Header.Get("Content-Encoding") == "":
		return answer.Body, nil
	case answer.StatusCode == http.StatusNotFound || answer.StatusCode == http.StatusGone:
		err = errNotPublished
	case answer.StatusCode == http.StatusOK:
		err = fmt.Errorf("it came encoded, though it was asked for as it is")
	default:
		err = fmt.Errorf("the answer is %s", http.StatusText(answer.StatusCode))
	}
	return nil, errors.Join(fmt.Errorf("fetch %s: %w", name, err), answer.Body.Close())
}

// read returns a file of numbers.
func (p *publication) read(ctx context.Context, name string) ([]byte, error) {
	in, err := p.open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxNumberFile+1))
	if err == nil && len(text) > maxNumberFile {
		err = fmt.Errorf("it is over %d bytes", maxNumberFile)
	}
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", name, err)
	}
	return text, nil
}

// save copies a file of the site to w, at most maxDownload bytes of it.
func (p *publication) save(ctx context.Context, name string, w io.Writer) (int64, error) {
	in, err := p.open(ctx, name)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	n, err := io.Copy(w, io.LimitReader(in, maxDownload+1))
	if err == nil && n > maxDownload {
		err = fmt.Errorf("it is over %d bytes", maxDownload)
	}
	if err != nil {
		return n, fmt.Errorf("fetch %s: %w", name, err)
	}
	return n, nil
}
