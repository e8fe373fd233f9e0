package site_test

import (
	"net/url"
	"testing"

	"github.com/streamgauge/streamgauge/internal/browser"
)

// TestHostileAddresses opens every page that reads its address with what a
// stranger's link may hold, in each parameter and in the fragment: nothing of it
// becomes markup, runs or is loaded, and the page works.
func TestHostileAddresses(t *testing.T) {
	b := look(t, build(t, withQueries(t, inputs(t, three()...))), "/x/y/")
	const attack = `"><img src=x onerror="window.pwned=1"><script>window.pwned=1</script>'`
	query := url.Values{}
	for _, name := range []string{"with", "sql", "file", "rpm", "in", "out", "sort", "window", "q", "__proto__", "constructor"} {
		query.Add(name, attack)
		query.Add(name, "javascript:window.pwned=1")
	}
	fragment := url.PathEscape(attack)
	for _, page := range []string{"", "24h/", "compare/", "race/", "reliability/", "price/", "estimate/", "changes/", "query/", "dataset/", "pair/estuary/aspen/", "methodology/"} {
		b.Visit(page + "?" + query.Encode() + "#" + fragment)
		b.Wait(`document.readyState == 'complete'`)
		if got := browser.Value[string](b, `String(window.pwned)`); got != "undefined" {
			t.Errorf("%s: what the link holds was run", page)
		}
		if n := browser.Value[int](b, `document.querySelectorAll('img[src="x"], [onerror], script:not([src]):not([type="application/ld+json"]):not([type="application/json"]), a[href^="javascript:"]').length`); n != 0 {
			t.Errorf("%s: %d elements of what the link holds are in the page", page, n)
		}
		b.Clean(page)
	}
}
