package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/streamgauge/streamgauge"

// arrows lists, for each package of ours, which others of ours it may import.
// A package that is not in the list may be imported by nobody and fails.
var arrows = map[string][]string{
	"bench/wire":        {},
	"bench/simulate":    {"bench/wire"},
	"bench":             {"bench/wire"},
	"bench/calibrate":   {"bench", "bench/wire"},
	"bench/peers":       {"bench", "bench/wire", "bench/simulate", "bench/calibrate"},
	"bench/independent": {}, // tests alone
	"rollup/stats":      {},
	"rollup":            {"bench", "bench/wire", "rollup/stats"},
	"data":              {"bench", "bench/wire", "rollup", "rollup/stats"},
	"data/providers":    {},
	"site/svg":          {},
	"templates":         {},
	"content":           {},
	"internal/browser":  {}, // for tests: nothing may import it
	"site":              {"bench", "bench/calibrate", "bench/wire", "rollup", "rollup/stats", "site/svg", "templates", "content"},
	"cmd/streamgauge": {
		"bench", "bench/wire", "bench/simulate", "bench/calibrate", "rollup", "rollup/stats",
		"data", "data/providers", "site", "site/svg", "templates", "content",
	},
}

// forbidden lists imports from outside that a package must do without.
var forbidden = map[string][]string{
	"bench/wire":   {"time", "net"},
	"rollup":       {"net", "net/http", "os", "database/sql"},
	"rollup/stats": {"net", "net/http", "os", "database/sql"},
	"site":         {"net", "database/sql"},
}

// TestArrows holds the imports of every package against the drawing.
func TestArrows(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		may, ok := arrows[name]
		if !ok {
			t.Errorf("package %s is not in the drawing: say what it may import", name)
			continue
		}
		seen++
		for _, imp := range p.Imports {
			if ours, ok := strings.CutPrefix(imp, module+"/"); ok && !slices.Contains(may, ours) {
				t.Errorf("%s imports %s, against the arrows", name, ours)
			}
			if slices.Contains(forbidden[name], imp) {
				t.Errorf("%s imports %s, which it must do without", name, imp)
			}
			if strings.Contains(imp, "sqlite3") && name != "data" {
				t.Errorf("%s imports %s; only data may", name, imp)
			}
			if strings.Contains(imp, "retryablehttp") && name != "bench" && name != "cmd/streamgauge" {
				t.Errorf("%s imports %s; only bench (discovery) and cmd (notify) may", name, imp)
			}
		}
	}
	if seen < len(arrows) {
		t.Errorf("saw %d packages, the drawing has %d: take out what is gone", seen, len(arrows))
	}
}
