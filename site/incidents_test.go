package site_test

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/site"
)

// TestIncidentsArePublished looks for three incidents on the page of changes and
// in the feeds that they belong to.
func TestIncidentsArePublished(t *testing.T) {
	in := inputs(t, three()[:2]...)
	one, other := in.Histories[0].Series, in.Histories[1].Series
	at := func(hour int) time.Time {
		return built.Truncate(time.Hour).Add(-24 * time.Hour).Add(time.Duration(hour) * time.Hour)
	}
	tally := rollup.Tally{Runs: 8, Failed: 6, Kinds: map[string]int{"timeout": 1, "server": 5}}
	over := rollup.Incident{
		ID: "00000000000000aa", Kind: rollup.IncidentDown, Provider: one.Provider, Series: one, Began: at(1), Opened: at(2), Tally: tally,
		Ended: at(4), Closed: at(5), Why: rollup.CloseRecovered,
	}
	open := rollup.Incident{ID: "00000000000000bb", Kind: rollup.IncidentDegraded, Provider: other.Provider, Series: other, Began: at(3), Opened: at(6), Tally: tally}
	planned := rollup.Incident{
		ID: "00000000000000cc", Kind: rollup.IncidentDown, Provider: one.Provider, Series: one, Began: at(7), Opened: at(8), Tally: tally,
		Closed: at(9), Why: rollup.CloseRecovered, Maintenance: "Sun 02:00-04:00 UTC",
	}
	hostile := rollup.Incident{
		ID: "00000000000000dd", Kind: rollup.IncidentDown, Provider: "<script>alert(1)</script>", Began: at(9), Opened: at(10), Tally: tally,
		Parts: []rollup.Incident{{Series: bench.Series{Pair: bench.Pair{Provider: "<script>alert(1)</script>", Model: "\"><img src=x>"}}}},
	}
	in.Incidents = []rollup.Incident{over, hostile, open, planned}
	dir := build(t, in)
	page := fileOf(t, dir, "changes/index.html")
	order := []int{}
	for _, want := range []string{`id="i-00000000000000dd"`, `id="i-00000000000000bb"`, `id="i-00000000000000cc"`, `id="i-00000000000000aa"`} {
		order = append(order, strings.Index(page, want))
	}
	if order[0] < 0 || !slices.IsSorted(order) {
		t.Errorf("incidents are at %v; want the open ones first, and each newest first", order)
	}
	for _, want := range []string{
		"6 of 8 runs failed (server 5, timeout 1)", "a run succeeded again at", `was down <span class="badge">over</span>`,
		`is degraded <span class="badge warn">open</span>`, "window of maintenance, Sun 02:00-04:00 UTC",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "<img src=x") {
		t.Error("a name is alive on the page")
	}
	var api struct {
		Incidents []struct {
			ID, Kind, Provider, Model string
			Closed                    *time.Time
			Failed                    int
			Parts                     []struct{ Model string }
		}
	}
	if err := json.Unmarshal([]byte(fileOf(t, dir, "api/v1/incidents.json")), &api); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, x := range api.Incidents {
		ids = append(ids, x.ID[14:])
	}
	if !slices.Equal(ids, []string{"dd", "cc", "bb", "aa"}) {
		t.Fatalf("the API lists %v; want all four, newest first", ids)
	}
	if x := api.Incidents[0]; x.Model != "" || len(x.Parts) != 1 || x.Closed != nil {
		t.Errorf("the API says %+v of a provider's open incident", x)
	}
	if x := api.Incidents[3]; x.Model != one.Model || x.Failed != 6 || !x.Closed.Equal(over.Closed) {
		t.Errorf("the API says %+v of an endpoint's closed incident", x)
	}
	if list := schemasOf(t, dir, true); list["incidents"] == nil || list["incidents"].Validate(answersOf(t, dir)["api/v1/incidents.json"]) != nil {
		t.Error("the incidents do not follow their schema")
	}
	problems, err := site.Crawl(os.DirFS(dir))
	if err != nil || len(problems) > 0 {
		t.Errorf("crawl: %v, %v", problems, err)
	}

	type entry struct {
		ID      string    `xml:"id"`
		Title   string    `xml:"title"`
		Updated time.Time `xml:"updated"`
	}
	entries := func(path string) (list []entry) {
		t.Helper()
		var feed struct {
			Updated time.Time `xml:"updated"`
			Entries []entry   `xml:"entry"`
		}
		if err := xml.Unmarshal([]byte(fileOf(t, dir, path)), &feed); err != nil {
			t.Fatal(err)
		}
		for _, e := range feed.Entries {
			if e.Updated.After(feed.Updated) {
				t.Errorf("%s is older than its entry %s", path, e.ID)
			}
			if strings.Contains(e.ID, "#i-") {
				list = append(list, e)
			}
		}
		return list
	}
	all := entries("changes/feed.atom")
	if len(all) != 4 {
		t.Fatalf("the feed of changes has %d incidents; want 4", len(all))
	}
	for _, e := range all {
		if strings.HasSuffix(e.ID, "aa") && (!e.Updated.Equal(over.Closed) || !strings.HasSuffix(e.Title, "was down (over)")) {
			t.Errorf("the one that is over: %+v; want it updated when it closed", e)
		}
	}
	var found int
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == "feed.atom" && strings.Contains(path, "/pair/") {
			rel, _ := filepath.Rel(dir, path)
			found += len(entries(rel))
		}
		return err
	})
	if err != nil || found != 3 {
		t.Errorf("the endpoints' feeds have %d incidents (%v); want 3", found, err)
	}
}

func fileOf(t *testing.T, dir, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
