package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// userAgent is what a request says it comes from. Firewalls turn away the
// names of HTTP libraries.
const userAgent = "streamgauge (+https://github.com/streamgauge/streamgauge)"

type header struct{ name, value string }

// post builds the streaming request: path is the protocol's own, auth its own
// way to send the key, extra its own headers. What the target sets comes last
// and wins. Errors hold neither the address nor the key, which may be private.
func post(ctx context.Context, t Target, path string, auth Auth, body map[string]any, extra ...header) (*http.Request, error) {
	u, err := address(t, path)
	if err != nil {
		return nil, err
	}
	overlay(body, t.Body)
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return nil, fmt.Errorf("encode request body: %w", err)
	}
	data := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("build request: the address is no URL")
	}
	req.GetBody = nil // so that no transport sends it a second time

	h := req.Header
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "text/event-stream, application/x-ndjson, application/json")
	h.Set("Accept-Encoding", "identity") // a compressed stream comes late
	h.Set("User-Agent", userAgent)
	for _, x := range extra {
		h.Set(x.name, x.value)
	}
	if t.Auth != "" {
		auth = t.Auth
	}
	if err := authorize(h, auth, t.Key); err != nil {
		return nil, err
	}
	for name, value := range t.Headers {
		if !isToken(name) || !isHeaderValue(value) {
			return nil, fmt.Errorf("header %q cannot be sent: its name or value has a forbidden character", name)
		}
		if strings.EqualFold(name, "Host") {
			req.Host = value
			continue
		}
		h.Set(name, value)
	}
	return req, nil
}

// authorize puts the key where the provider looks for it.
func authorize(h http.Header, auth Auth, key string) error {
	if key == "" || auth == AuthNone {
		return nil
	}
	if !isHeaderValue(key) {
		return errors.New("the key cannot be sent: it has a forbidden character, such as a line break")
	}
	switch auth {
	case AuthBearer:
		h.Set("Authorization", "Bearer "+key)
	case AuthAPIKey, AuthXAPIKey, AuthGoogle:
		h.Set(string(auth), key)
	default:
		return fmt.Errorf("unknown auth %q", auth)
	}
	return nil
}

// address joins base URL and path. The path may have a query, to which that of
// the base and then the target's own are added.
func address(t Target, path string) (*url.URL, error) {
	u, err := url.Parse(t.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("base URL is no absolute http or https URL")
	}
	if t.Path != "" {
		path = t.Path
	}
	if strings.Contains(path, "{model}") {
		if t.Model == "" || t.Model == "." || t.Model == ".." {
			return nil, fmt.Errorf("model %q cannot stand in a path", t.Model)
		}
		path = strings.ReplaceAll(path, "{model}", url.PathEscape(t.Model))
	}
	path, rawQuery, _ := strings.Cut(path, "?")
	own, err := url.ParseQuery(rawQuery)
	if err != nil {
		return nil, errors.New("the path's query is malformed")
	}
	raw := strings.TrimRight(u.EscapedPath(), "/") + "/" + strings.TrimLeft(path, "/")
	if u.Path, err = url.PathUnescape(raw); err != nil {
		return nil, errors.New("the path has a malformed escape")
	}
	u.RawPath = raw

	query := u.Query()
	maps.Copy(query, own)
	for name, value := range t.Query {
		query.Set(name, value)
	}
	u.RawQuery = query.Encode()
	u.Fragment = ""
	return u, nil
}

// overlay puts the fields of over into body: objects are joined, other values
// replace, and null takes a field away. over stays as it is.
func overlay(body, over map[string]any) {
	for name, value := range over {
		switch v := value.(type) {
		case nil:
			delete(body, name)
		case map[string]any:
			inner := map[string]any{}
			if was, ok := body[name].(map[string]any); ok {
				maps.Copy(inner, was)
			}
			overlay(inner, v)
			body[name] = inner
		default:
			body[name] = v
		}
	}
}

// isToken reports whether s may be a header's name (RFC 9110, 5.6.2).
func isToken(s string) bool {
	for _, ch := range []byte(s) {
		letter := ch|0x20 >= 'a' && ch|0x20 <= 'z' || ch >= '0' && ch <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(ch)) {
			return false
		}
	}
	return s != ""
}

// isHeaderValue reports whether s may be a header's value: no control character
// but the tab.
func isHeaderValue(s string) bool {
	for _, ch := range []byte(s) {
		if ch < ' ' && ch != '\t' || ch == 0x7F {
			return false
		}
	}
	return true
}
