package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// What a notification may cost us.
const (
	notifyTimeout = 20 * time.Second // of one attempt
	notifyRetries = 4
	maxAnswer     = 8 << 20         // bytes of an answer that are read
	maxPatience   = 3 * time.Minute // who asks us to wait longer is asked again at the next run
	limitPause    = time.Minute     // after a refusal that does not say how long, as GitHub asks
)

// errHoldsSecret is why something is not sent, whoever is to be told.
var errHoldsSecret = errors.New("refused, as it holds a key or a private address")

// newNotifyClient returns a client that tries again what again says is worth it,
// waits as long as it is asked to, and follows no redirect: what is sent is for
// one host. The answer is nil where none came.
func newNotifyClient(again func(method string, resp *http.Response) bool) *retryablehttp.Client {
	c := retryablehttp.NewClient()
	c.Logger = nil // its lines hold URLs
	c.RetryMax = notifyRetries
	c.RetryWaitMin, c.RetryWaitMax = time.Second, 30*time.Second
	c.HTTPClient = &http.Client{
		Timeout:       notifyTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	c.ErrorHandler = retryablehttp.PassthroughErrorHandler
	c.CheckRetry = func(ctx context.Context, resp *http.Response, err error) (bool, error) {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if err != nil {
			var u *url.Error
			return errors.As(err, &u) && again(strings.ToUpper(u.Op), nil), nil
		}
		if wait, asked := askedToWait(resp, time.Now()); asked {
			// Noted, as the body that may have said so is gone when it is asked for.
			resp.Header.Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
			if wait > maxPatience {
				return false, nil
			}
		}
		return again(resp.Request.Method, resp), nil
	}
	c.Backoff = func(low, high time.Duration, attempt int, resp *http.Response) time.Duration {
		if wait, asked := askedToWait(resp, time.Now()); asked {
			return wait
		}
		return min(low<<attempt, high)
	}
	return c
}

// askedToWait returns how long an answer asks to wait: by Retry-After, else
// until GitHub's rate limit is reset, else for limitPause if it is a refusal of
// that kind. See GitHub, "Best practices for using the REST API".
func askedToWait(resp *http.Response, now time.Time) (wait time.Duration, asked bool) {
	if resp == nil || resp.StatusCode < 400 {
		return 0, false
	}
	if text := resp.Header.Get("Retry-After"); text != "" {
		if seconds, err := strconv.ParseInt(text, 10, 32); err == nil && seconds >= 0 {
			return time.Duration(seconds) * time.Second, true
		}
		if at, err := http.ParseTime(text); err == nil {
			return max(0, at.Sub(now)), true
		}
	}
	if resp.Header.Get("X-Ratelimit-Remaining") == "0" {
		if at, err := strconv.ParseInt(resp.Header.Get("X-Ratelimit-Reset"), 10, 64); err == nil {
			return max(0, time.Unix(at, 0).Sub(now)) + time.Second, true // a second is the reset's unit
		}
	}
	if limited(resp) {
		return limitPause, true
	}
	return 0, false
}

// limited reports whether an answer is a refusal for the number of requests: 429,
// or a 403 of GitHub's that says so. The body stays readable.
func limited(resp *http.Response) bool {
	if resp.StatusCode == http.StatusTooManyRequests {
		return true
	}
	if resp.StatusCode != http.StatusForbidden {
		return false
	}
	if resp.Header.Get("Retry-After") != "" || resp.Header.Get("X-Ratelimit-Remaining") == "0" {
		return true
	}
	const enough = 16 << 10
	text, err := io.ReadAll(io.LimitReader(resp.Body, enough))
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), resp.Body), resp.Body}
	return err == nil && bytes.Contains(bytes.ToLower(text), []byte("rate limit"))
}

// withoutAddress says what an error of net/http is, without the address: all of
// it may be a secret, the host too.
func withoutAddress(err error) error {
	var u *url.Error
	var dns *net.DNSError
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case !errors.As(err, &u):
		return err
	case u.Timeout():
		return errors.New("no answer in time")
	case errors.As(err, &dns):
		return errors.New("the name of the host cannot be resolved")
	case errors.As(err, &untrusted):
		return errors.New("the certificate of the host is not to be trusted")
	}
	return errors.New("the host cannot be reached, or broke off")
}

// checkAddress refuses an address that something would be sent to in the clear:
// it must be https, or on this machine. The error does not repeat it.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "":
		return errors.New("it is no absolute URL")
	case u.User != nil:
		return errors.New("it holds a user or a password")
	case u.Scheme == "https", u.Scheme == "http" && onThisMachine(u.Hostname()):
		return nil
	}
	return errors.New("it must be https, but on this machine")
}

func onThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// send sends a request and returns the answer's status, header and body.
func send(ctx context.Context, c *retryablehttp.Client, method, address string, header http.Header, body []byte) (int, http.Header, []byte, error) {
	var content any
	if body != nil {
		content = body
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		return 0, nil, nil, withoutAddress(err)
	}
	req.Header = header
	resp, err := c.Do(req)
	if err != nil {
		if resp != nil {
			resp.Body.Close()
		}
		return 0, nil, nil, withoutAddress(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(text) > maxAnswer {
		err = fmt.Errorf("the answer is larger than %d MiB", maxAnswer>>20)
	}
	return resp.StatusCode, resp.Header, text, err
}
