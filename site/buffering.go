package site

import (
	"fmt"

	"github.com/streamgauge/streamgauge/rollup/stats"
)

// bufferingText says what the buffering probes of an endpoint found, if they
// mark it; else it is empty.
func (p *endpoint) bufferingText() string {
	b := p.track.Buffering
	if !p.track.Buffered() {
		return ""
	}
	return fmt.Sprintf("Once a day a request for few tokens goes beside an ordinary one. In %s of the newest %s, over half of the extra time "+
		"that the longer answer took passed before anything of it was sent; the median share is %s %%, where text that is sent as it is made has about 0 %%.",
		count(b.Held), plural(b.N, "comparison"), percent(b.Share))
}

// An apiBuffering is what the buffering probes of a series say.
type apiBuffering struct {
	Verdict string   `json:"verdict"` // unknown, streams, buffered
	N       int      `json:"comparisons"`
	Held    int      `json:"held_back"`
	P       float64  `json:"p"`
	Share   *float64 `json:"held_share_median"`
}

func apiBufferingOf(b stats.Buffering) apiBuffering {
	x := apiBuffering{Verdict: b.Verdict.String(), N: b.N, Held: b.Held, P: b.P}
	if b.HasShare {
		x.Share = &b.Share
	}
	return x
}
