package bench

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// Limits on what a model list or price list may cost us.
const (
	maxListBytes  = 16 << 20 // of one response, decompressed; models.dev's is about 3 MB
	maxListPages  = 20
	maxListModels = 5000
	listTimeout   = 30 * time.Second // of one attempt
	listRetries   = 3

	// RetiredAfter is how long a model must be absent from its provider's list
	// before it counts as retired. A list may lose a model for an hour.
	RetiredAfter = 24 * time.Hour

	// ModelsDevURL is where models.dev publishes prices and wire formats.
	ModelsDevURL = "https://models.dev/api.json"

	listUserAgent = "streamgauge (+https://github.com/streamgauge/streamgauge)"
)

// A Lister reads model lists and prices. It retries, as nothing it does is
// measured; measured requests never are. It is safe for concurrent use.
type Lister struct {
	client    *retryablehttp.Client
	modelsDev string // ModelsDevURL, but in tests
}

// NewLister returns a Lister that sends through transport; nil is a transport
// of its own that uses no proxy. A provider with a reach of its own is always
// asked through a transport that follows it.
func NewLister(transport http.RoundTripper) *Lister {
	if transport == nil {
		transport = listTransport()
	}
	return &Lister{client: listClient(transport), modelsDev: ModelsDevURL}
}

func listTransport() *http.Transport {
	return &http.Transport{
		ResponseHeaderTimeout:  listTimeout,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      true,
	}
}

func listClient(transport http.RoundTripper) *retryablehttp.Client {
	c := retryablehttp.NewClient()
	c.Logger = nil // its lines hold URLs
	c.RetryMax = listRetries
	c.RetryWaitMin, c.RetryWaitMax = time.Second, 10*time.Second
	c.HTTPClient = &http.Client{Transport: transport, Timeout: listTimeout, CheckRedirect: sameHost}
	c.ErrorHandler = retryablehttp.PassthroughErrorHandler
	c.Backoff = func(low, high time.Duration, attempt int, resp *http.Response) time.Duration {
		// The default obeys a Retry-After of any length.
		return min(retryablehttp.DefaultBackoff(low, high, attempt, resp), high)
	}
	return c
}

// clientFor returns what a provider's list is asked for with, and what closes
// it. The certificate is shown, and the provider's authorities count, on its
// own host only.
func (l *Lister) clientFor(p *Provider, env Lookup, home bool) (*retryablehttp.Client, func(), error) {
	if p.Reach == (Reach{}) {
		return l.client, func() {}, nil
	}
	route, err := p.Reach.Route(env)
	if err != nil {
		return nil, nil, err
	}
	t := listTransport()
	if route.Proxy != nil {
		t.Proxy = func(req *http.Request) (*url.URL, error) { return route.Proxy(req.URL) }
	}
	if home {
		t.TLSClientConfig = &tls.Config{RootCAs: route.Roots, MinVersion: tls.VersionTLS12}
		if route.Certificate != nil {
			t.TLSClientConfig.Certificates = []tls.Certificate{*route.Certificate}
		}
	}
	c := listClient(t)
	c.RetryMax = l.client.RetryMax
	return c, t.CloseIdleConnections, nil
}

// errRedirect is what a redirect to another host ends in: it would take the
// key along, or lead to an address inside the network we run in.
var errRedirect = errors.New("redirected to another host")

func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		return errRedirect
	}
	if len(via) > 3 {
		return errors.New("too many redirects")
	}
	return nil
}

// A Listing is a provider's list of models, as read. It may be kept between
// runs: with its ETag an unchanged list costs one empty answer.
type Listing struct {
	ETag    string        `json:"etag,omitempty"`
	Models  []ListedModel `json:"models"`
	Dropped int           `json:"dropped,omitempty"` // entries whose id is not safe to publish
}

// A ListedModel is one entry of a provider's list.
type ListedModel struct {
	ID    string `json:"id"`
	Price *Price `json:"price,omitempty"` // where the list tells it
}

// ErrNoList is wrapped when a provider has no list to read, or has an empty
// one, which is never taken as "every model is gone".
var ErrNoList = errors.New("no list of models")

// List reads the list of a provider that discovers. The cached listing is
// returned unchanged if the provider says that it still holds. Errors name
// neither URL nor key.
func (l *Lister) List(ctx context.Context, p *Provider, env Lookup, cached Listing) (Listing, error) {
	fail := func(err error) (Listing, error) {
		return Listing{}, fmt.Errorf("list the models of %s: %w", p.PublicName(), withoutURL(err))
	}
	if p.Discover == nil {
		return fail(ErrNoList)
	}
	if unset := p.Missing(env); len(unset) > 0 {
		return fail(&NotConfiguredError{Provider: p.PublicName(), Variables: unset})
	}
	x := expander{env: env, session: "list"} // nothing is measured: any word does
	base := x.baseURL(p.BaseURL)
	address := base + p.Discover.Format.path()
	if p.Discover.URL != "" {
		address = x.baseURL(p.Discover.URL)
	}
	header := p.listHeader(&x, base, address)
	if x.err == nil {
		x.err = checkListURL(address)
	}
	if x.err != nil {
		return fail(x.err)
	}

	client, done, err := l.clientFor(p, env, host(base) == host(address))
	if err != nil {
		return fail(err)
	}
	defer done()

	var got Listing
	cursor := ""
	for page := range maxListPages {
		u, err := p.Discover.Format.page(address, cursor)
		if err != nil {
			return fail(err)
		}
		etag := ""
		if page == 0 && len(cached.Models) > 0 {
			etag = cached.ETag
		}
		body, tag, err := get(ctx, client, u, header, etag)
		if errors.Is(err, errNotModified) {
			return cached, nil
		}
		if err != nil {
			return fail(err)
		}
		models, next, err := p.Discover.Format.parse(body)
		if err != nil {
			return fail(err)
		}
		got.add(models)
		if page == 0 && next == "" {
			got.ETag = tag // of a list in pages the tag covers the first alone
		}
		if next == "" || next == cursor || len(got.Models) >= maxListModels {
			break
		}
		cursor = next
	}
	if len(got.Models) == 0 {
		return fail(ErrNoList)
	}
	slices.SortFunc(got.Models, func(a, b ListedModel) int { return cmp.Compare(a.ID, b.ID) })
	got.Models = slices.CompactFunc(got.Models, func(a, b ListedModel) bool { return a.ID == b.ID })
	return got, nil
}

// add takes the entries that are safe to publish.
func (l *Listing) add(models []ListedModel) {
	for _, m := range models {
		if checkModelName(m.ID) != nil {
			l.Dropped++
			continue
		}
		if len(l.Models) < maxListModels {
			l.Models = append(l.Models, m)
		}
	}
}

// listHeader returns the headers of a list request. The key goes only to the
// host that measured requests go to.
func (p *Provider) listHeader(x *expander, base, address string) http.Header {
	h := http.Header{}
	for k, v := range x.expandMap(p.Headers) {
		h.Set(k, v)
	}
	h.Set("User-Agent", listUserAgent)
	h.Set("Accept", "application/json")
	if p.Discover.Format == ListAnthropic {
		h.Set("Anthropic-Version", "2023-06-01")
	}
	if p.KeyEnv == "" || host(base) != host(address) {
		return h
	}
	key := x.expand("${" + p.KeyEnv + "}")
	auth := p.Auth
	if auth == "" {
		switch p.Discover.Format {
		case ListAnthropic:
			auth = wire.AuthXAPIKey
		case ListGemini:
			auth = wire.AuthGoogle
		default:
			auth = wire.AuthBearer
		}
	}
	switch auth {
	case wire.AuthNone:
	case wire.AuthBearer:
		h.Set("Authorization", "Bearer "+key)
	default:
		h.Set(string(auth), key)
	}
	return h
}

// checkListURL refuses what cannot be fetched, without repeating it.
func checkListURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("the list's URL must be absolute, without user or password")
	}
	if u.Scheme == "http" && !isLocal(u.Host) {
		return errors.New("the list's URL must be https")
	}
	return nil
}

var errNotModified = errors.New("not modified")

// get fetches a document of at most maxListBytes.
func get(ctx context.Context, client *retryablehttp.Client, address string, header http.Header, etag string) (body []byte, tag string, err error) {
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, "", err
	}
	maps.Copy(req.Header, header)
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	resp, err := client.Do(req)
	if err != nil {
		if resp != nil {
			resp.Body.Close()
		}
		return nil, "", err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && etag != "":
		return nil, "", errNotModified
	case resp.StatusCode != http.StatusOK:
		return nil, "", fmt.Errorf("HTTP status %d", resp.StatusCode)
	}
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxListBytes+1))
	if err != nil {
		return nil, "", err
	}
	if len(body) > maxListBytes {
		return nil, "", fmt.Errorf("the answer is larger than %d MiB", maxListBytes>>20)
	}
	if tag = resp.Header.Get("ETag"); len(tag) > 200 {
		tag = ""
	}
	return body, tag, nil
}

// withoutURL takes the URL out of an error of net/http: it may hold a private
// host.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// A FactSheet is Facts as read, to be kept between runs like a [Listing].
type FactSheet struct {
	ETag  string `json:"etag,omitempty"`
	Facts Facts  `json:"facts"`
}

// Facts reads models.dev's catalogue for the providers it knows by the given
// ids. The cached sheet is returned unchanged if it still holds.
func (l *Lister) Facts(ctx context.Context, providers []string, cached FactSheet) (FactSheet, error) {
	etag := cached.ETag
	for _, id := range providers {
		if cached.Facts[id] == nil {
			etag = "" // a provider was added since
		}
	}
	header := http.Header{"User-Agent": {listUserAgent}, "Accept": {"application/json"}}
	body, tag, err := get(ctx, l.client, l.modelsDev, header, etag)
	if errors.Is(err, errNotModified) {
		return cached, nil
	}
	if err != nil {
		return FactSheet{}, fmt.Errorf("read the catalogue of models.dev: %w", withoutURL(err))
	}
	facts, err := ParseModelsDev(body, providers)
	if err != nil {
		return FactSheet{}, fmt.Errorf("read the catalogue of models.dev: %w", err)
	}
	return FactSheet{ETag: tag, Facts: facts}, nil
}
