package site_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/internal/browser"
)

var (
	mustAudit = flag.Bool("audit", false, "fail, rather than skip the audit, where one of its tools is missing")
	screens   = flag.String("screens", "", "put a picture of each page that is audited into this folder")
)

// The budgets of time are reports: a busy machine must not fail a test. These
// are promises about the pages themselves.
const (
	fullScore = 100 // of Lighthouse's categories, but for performance
	minTypes  = 30  // types of pages that a site has; fewer means that some are not built
)

// An audited is a type of page: the shape of its path, and a page of it.
type audited struct{ shape, path string }

// pageTypes returns a page of each type that a site has. Pages that differ only
// in which pair, provider, model or ranking metric they are about are of one
// type: parts of their paths become "*".
func pageTypes(t testing.TB, dir string) []audited {
	t.Helper()
	first := map[string]string{}
	for _, name := range paths(t, dir) {
		if path.Ext(name) != ".html" {
			continue
		}
		address := strings.TrimSuffix(name, "index.html")
		parts := strings.Split(strings.TrimSuffix(address, "/"), "/")
		for i, part := range parts {
			windows := slices.Contains([]string{"24h", "30d", "1y"}, part)
			switch {
			case i == 0 && (part == "first-token" || part == "hybrid" || strings.HasSuffix(part, "-tokens")):
				parts[i] = "*"
			case i > 0 && slices.Contains([]string{"pair", "provider", "model", "compare", "embed"}, parts[0]) && !windows:
				parts[i] = "*"
			}
		}
		shape := strings.Join(parts, "/")
		if first[shape] == "" || len(address) < len(first[shape]) {
			first[shape] = address
		}
	}
	var types []audited
	for _, shape := range slices.Sorted(maps.Keys(first)) {
		types = append(types, audited{shape, first[shape]})
	}
	if len(types) < minTypes {
		t.Fatalf("found %d types of pages; want at least %d: %v", len(types), minTypes, types)
	}
	return types
}

// tool returns where something that the audit needs is installed.
func tool(t *testing.T, name string) string {
	t.Helper()
	file := filepath.Join("audit", "node_modules", filepath.FromSlash(name))
	_, err := os.Stat(file)
	if err == nil {
		_, err = exec.LookPath("node")
	}
	if err != nil {
		if *mustAudit {
			t.Fatalf("a tool of the audit is missing: %v", err)
		}
		t.Skipf("axe-core and Lighthouse are not installed; with Node: npm ci --prefix site/audit")
	}
	return file
}

// auditedSite builds a site with every type of page and serves it.
func auditedSite(t *testing.T) (tab *browser.Tab, types []audited) {
	t.Helper()
	in := withQueries(t, inputs(t, append(three(),
		past{"northwind", "dogwood", "burst", 6 * time.Hour, 40},
		past{"northwind", "elm", "fails-overloaded", 6 * time.Hour, 40},
		past{"riverbed", "fir", "flaky-1-in-6", time.Hour, 40},
		past{"riverbed", "ginkgo", "thinks-aloud", time.Hour, 40},
		past{"riverbed", "hazel", "smooth-60", 6 * time.Hour, 2},
	)...))
	dir := build(t, in)
	return look(t, dir, "/x/y/"), pageTypes(t, dir)
}

// unfold opens what is folded, or closes it: but for the menu of a phone, which
// would cover what is to be looked at.
const unfold = `for (const d of document.querySelectorAll('details:not(.menu)')) d.open = `

// TestAxe lets axe-core look at every type of page, in light and dark, on a wide
// screen and on a phone: no rule may be broken, and nothing that is hidden in
// details is spared. The same pages may not shift as they load, not be wider
// than the screen, and not do what their policy forbids.
func TestAxe(t *testing.T) {
	axe, err := os.ReadFile(tool(t, "axe-core/axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	tab, types := auditedSite(t)
	for _, screen := range []struct{ width, height int64 }{{1280, 900}, {390, 844}} {
		tab.Screen(screen.width, screen.height)
		for _, p := range types {
			tab.Prefer("prefers-color-scheme", "light")
			tab.Visit(p.path)
			tab.Clean(p.path)
			if w := browser.Value[int64](tab, "document.documentElement.scrollWidth"); w > screen.width {
				t.Errorf("%s is %d pixels wide on a screen of %d", p.path, w, screen.width)
			}
			if shifts := steadyShifts(tab, p.path); len(shifts) > 0 {
				t.Errorf("%s at %d: the layout shifted by %v", p.path, screen.width, shifts)
			}
			tab.Run(string(axe))
			for _, scheme := range []string{"light", "dark"} {
				tab.Prefer("prefers-color-scheme", scheme)
				if *screens != "" {
					name := strings.Trim(strings.NewReplacer("/", "_", "*", "x").Replace(p.shape), "_")
					if name == "" {
						name = "index"
					}
					tab.Shot(filepath.Join(*screens, fmt.Sprintf("%s-%d-%s.png", name, screen.width, scheme)), true)
				}
				tab.Run(unfold + "true")
				for _, fault := range axeFaults(tab) {
					t.Errorf("%s at %d in %s: %s", p.path, screen.width, scheme, fault)
				}
				tab.Run(unfold + "false")
			}
		}
	}
}

// steadyShifts returns by how much the layout shifts whenever the open page is
// loaded and scrolled to its end. A machine that has much else to do may paint a
// table before all of it has come, and move it then: what is shifted by the page
// itself is shifted each time.
func steadyShifts(tab *browser.Tab, path string) (shifts []float64) {
	for range 3 {
		tab.Run(`window.scrolled = false; scrollTo(0, document.body.scrollHeight); requestAnimationFrame(() => requestAnimationFrame(() => { scrollTo(0, 0); scrolled = true }))`)
		tab.Wait("window.scrolled")
		if shifts = browser.Value[[]float64](tab, "window.shifts"); len(shifts) == 0 {
			break
		}
		tab.Visit(path)
	}
	return shifts
}

// axeFaults returns what axe-core finds in the page.
func axeFaults(tab *browser.Tab) []string {
	tab.Run(`window.axed = null; axe.run().then(r => window.axed = r.violations.flatMap(v => v.nodes.map(n => v.id + ': ' + v.help + ': ' + n.html.slice(0, 200))), e => window.axed = ['' + e])`)
	tab.Wait("window.axed !== null")
	return browser.Value[[]string](tab, "window.axed")
}

// TestLighthouse gives the types of pages that readers arrive at to Lighthouse:
// accessibility, best practices and SEO must be complete. Performance depends on
// what else the machine does, and is reported. Shifts are too: TestAxe holds
// every page to none.
func TestLighthouse(t *testing.T) {
	tool(t, "lighthouse/package.json")
	tab, types := auditedSite(t)
	args := []string{filepath.Join("audit", "lighthouse.mjs"), browser.Program(t)}
	for _, p := range types {
		switch p.shape {
		case "", "pair/*/*", "model/*", "compare/*/*/*/*", "reliability", "evaluate", "query", "methodology":
			args = append(args, tab.Base+p.path)
		}
	}
	if len(args) != 2+8 {
		t.Fatalf("found %d of the eight pages to audit", len(args)-2)
	}
	command := exec.CommandContext(t.Context(), "node", args...)
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		t.Fatalf("lighthouse: %v\n%s", err, problems.String())
	}
	seen := 0
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); seen++ {
		var page struct {
			Address string
			Scores  map[string]*int
			Faults  []string
			Figures map[string]*float64
		}
		if err := dec.Decode(&page); err != nil {
			t.Fatal(err)
		}
		name := "/" + strings.TrimPrefix(page.Address, tab.Base)
		for _, category := range []string{"accessibility", "best-practices", "seo"} {
			if score := page.Scores[category]; score == nil || *score < fullScore {
				t.Errorf("%s: %s is below %d", name, category, fullScore)
			}
		}
		for _, fault := range page.Faults {
			t.Errorf("%s: %s", name, fault)
		}
		show := func(figure string) string {
			if v := page.Figures[figure]; v != nil {
				return fmt.Sprintf("%.4g", *v)
			}
			return "unknown"
		}
		score := "unknown"
		if s := page.Scores["performance"]; s != nil {
			score = fmt.Sprint(*s)
		}
		t.Logf("%s: performance %s; first paint %s ms, largest %s ms, blocked %s ms, shift %s, %s bytes", name, score, show("fcp_ms"), show("lcp_ms"), show("tbt_ms"), show("cls"), show("bytes"))
	}
	if seen != len(args)-2 {
		t.Errorf("Lighthouse spoke of %d pages; want %d", seen, len(args)-2)
	}
}
