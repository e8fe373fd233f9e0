package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPing asks the address once, and shows no part of it whatever happens.
func TestPing(t *testing.T) {
	asked := []string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		if strings.Contains(r.URL.Path, "gone") {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for _, tt := range []struct{ url, asked, says string }{
		{"", "[]", ""},
		{server.URL + "/canary", "[GET /canary]", ""},
		{server.URL + "/canary/gone", "[GET /canary/gone]", "answers with a failure"},
		{"http://monitor.example/canary", "[]", "https"},
		{"canary", "[]", "absolute"},
	} {
		asked = []string{}
		var log bytes.Buffer
		a := &app{ctx: t.Context(), stdout: &log, stderr: &log, env: func(name string) (string, bool) { return tt.url, name == pingURLEnv }}
		a.mask(nil)
		a.ping()
		if got := fmt.Sprint(asked); got != tt.asked || !strings.Contains(log.String(), tt.says) || (tt.says == "") != (log.Len() == 0) {
			t.Errorf("%q: asked %s, said %q; want %s, %q", tt.url, got, &log, tt.asked, tt.says)
		}
		if strings.Contains(log.String(), "canary") || strings.Contains(log.String(), "127.0.0.1") {
			t.Errorf("the log shows the address: %s", &log)
		}
	}
}

// TestWithoutAddress: an error says why, and not where.
func TestWithoutAddress(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	c := newNotifyClient(func(string, *http.Response) bool { return false })
	for _, address := range []string{closed.URL + "/canary", "http://canary.invalid/"} {
		_, _, _, err := send(t.Context(), c, http.MethodGet, address, http.Header{}, nil)
		if err == nil || strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%v; want an error without the address", err)
		}
	}
}
