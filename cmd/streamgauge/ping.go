package main

import (
	"net/http"
	"time"
)

// pingURLEnv names the address that is told of each good run.
const pingURLEnv = "BENCH_PING_URL"

// ping tells a monitor that a run went well, as a dead man's switch wants it: by
// a GET, whose failure is no failure of the run. The address is a secret.
func (a *app) ping() {
	address, _ := a.env(pingURLEnv)
	if address == "" {
		return
	}
	err := checkAddress(address)
	if err == nil {
		client := newNotifyClient(func(_ string, resp *http.Response) bool { return resp == nil || resp.StatusCode >= 500 })
		client.HTTPClient.Timeout = 10 * time.Second
		client.RetryMax = 2
		var status int
		status, _, _, err = send(a.ctx, client, http.MethodGet, address, http.Header{"User-Agent": {"streamgauge"}}, nil)
		if err == nil && (status < 200 || status >= 300) {
			a.log.Warn("the monitor was told of the run, and answers with a failure", "status", status)
			return
		}
	}
	if err != nil {
		a.log.Warn("the monitor could not be told of the run; its address is in "+pingURLEnv, "error", withoutAddress(err))
	}
}
