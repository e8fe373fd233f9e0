package peers

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/calibrate"
)

var updateGuide = flag.Bool("update-guide", false, "write the tables of the guide to the clock anew")

// What the guide's tables are made of. The page says how each is made.
const (
	guideFile       = "../../content/guide-clock.md"
	calibrationFile = "testdata/calibration.json"
	peersFile       = "testdata/peers.txt"
	openaiFile      = "testdata/openai-go.txt"
)

// TestGuide checks that the tables of the guide to the clock are those that the
// recorded measurements and the policies of today give.
func TestGuide(t *testing.T) {
	guide, err := os.ReadFile(guideFile)
	if err != nil {
		t.Fatal(err)
	}
	text := string(guide)
	for name, block := range map[string]string{
		"calibration": calibrationBlock(t),
		"peers":       peersBlock(t),
		"policies":    policiesBlock(t),
		"shapes":      shapesBlock(t),
	} {
		marks := regexp.MustCompile(`(?s)(\{\{/\* begin ` + name + ` \*/\}\}\n).*?(\{\{/\* end ` + name + ` \*/\}\})`)
		if len(marks.FindAllString(text, -1)) != 1 {
			t.Fatalf("%s: want one block %q", guideFile, name)
		}
		text = marks.ReplaceAllString(text, "${1}"+strings.ReplaceAll(block, "$", "$$")+"${2}")
	}
	switch {
	case text == string(guide):
	case *updateGuide:
		if err := os.WriteFile(guideFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the tables of %s are not those of the measurements; run go test ./bench/peers -run TestGuide -update-guide", guideFile)
	}
}

// markdown lays out a table; all columns but the first are numbers.
func markdown(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(head)
	rule := []string{"---"}
	for range head[1:] {
		rule = append(rule, "--:")
	}
	line(rule)
	for _, row := range rows {
		line(row)
	}
	return b.String()
}

func calibrationBlock(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(calibrationFile)
	if err != nil {
		t.Fatal(err)
	}
	var c calibrate.Calibration
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatalf("%s: %v", calibrationFile, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s on %s/%s with %d CPUs, %s.\n", c.At.Format("2 January 2006"), c.Machine.OS, c.Machine.Arch, c.Machine.CPUs, c.Machine.Go)
	for _, table := range c.Tables() {
		fmt.Fprintf(&b, "\n**%s**\n\n%s", table.Title, markdown(table.Head, table.Rows))
	}
	return b.String()
}

// A run is the output of one benchmark run: figures by stream, then by name.
type run map[string]map[string]float64

func readRun(t *testing.T, file string) run {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := run{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "BenchmarkPeers/") {
			continue
		}
		name := strings.TrimPrefix(fields[0], "BenchmarkPeers/")
		if i := strings.LastIndexByte(name, '-'); i > 0 { // GOMAXPROCS
			name = name[:i]
		}
		figures := map[string]float64{"rounds": number(t, file, fields[1])}
		for pair := range slices.Chunk(fields[2:], 2) {
			if len(pair) == 2 {
				figures[pair[1]] = number(t, file, pair[0])
			}
		}
		all[name] = figures
	}
	for _, model := range []string{WideGaps, NarrowGaps, Flood} {
		if all[model] == nil || all[model]["rounds"] < 5 {
			t.Fatalf("%s: want at least five rounds of %s", file, model)
		}
	}
	return all
}

func number(t *testing.T, file, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v
}

func peersBlock(t *testing.T) string {
	t.Helper()
	head := []string{
		"client", "stamp error, 5 ms gaps, ms", "× ours", "1 ms gaps, ms", "× ours",
		"TTFT error, ms", "CPU per event while it streams, µs", "× ours", "in all, µs", "× ours", "events lost",
	}
	about := make(map[string]string)
	for _, p := range Policies() {
		about[p.Name] = p.About
	}
	var b strings.Builder
	for i, r := range []run{readRun(t, peersFile), readRun(t, openaiFile)} {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "Median of %.0f rounds; load average %.1f, some task waiting for a processor %.0f %% of the time.\n\n",
			r[WideGaps]["rounds"], r[WideGaps]["load"], 100*r[WideGaps]["pressure"])
		var rows [][]string
		for _, name := range clientsOf(r) {
			ratio := func(model, figure string) string {
				return fmt.Sprintf("%.1f", r[model][name+":"+figure]/r[model][OursKernel+":"+figure])
			}
			in := func(model, figure string) string { return fmt.Sprintf("%.3f", r[model][name+":"+figure]/1000) }
			rows = append(rows, []string{
				name, in(WideGaps, "stamp-us"), ratio(WideGaps, "stamp-us"), in(NarrowGaps, "stamp-us"), ratio(NarrowGaps, "stamp-us"),
				in(WideGaps, "ttft-us"), fmt.Sprintf("%.2f", r[Flood][name+":hot-us/event"]), ratio(Flood, "hot-us/event"),
				fmt.Sprintf("%.2f", r[Flood][name+":cpu-us/event"]), ratio(Flood, "cpu-us/event"),
				fmt.Sprintf("%.0f", r[Flood][name+":lost"]),
			})
		}
		b.WriteString(markdown(head, rows))
	}
	b.WriteString("\n")
	for _, name := range clientsOf(readRun(t, peersFile)) {
		if about[name] != "" {
			fmt.Fprintf(&b, "- *%s* %s.\n", name, about[name])
		}
	}
	return b.String()
}

// clientsOf returns the clients of a run: ours first, then by stamp error.
func clientsOf(r run) []string {
	var names []string
	for figure := range r[WideGaps] {
		if name, ok := strings.CutSuffix(figure, ":stamp-us"); ok {
			names = append(names, name)
		}
	}
	rank := func(name string) float64 {
		switch name {
		case OursKernel:
			return -2
		case OursUser:
			return -1
		}
		return r[WideGaps][name+":stamp-us"]
	}
	slices.SortFunc(names, func(a, b string) int {
		if rank(a) < rank(b) {
			return -1
		}
		return 1
	})
	return names
}

func policiesBlock(t *testing.T) string {
	t.Helper()
	names, rows := verdicts(t)
	var b strings.Builder
	for _, table := range []struct {
		title string
		cell  func(verdict) string
	}{
		{"Error of the time to first token, ms", func(v verdict) string {
			if v.noTTFT {
				return "none"
			}
			return signed(float64(v.ttft)/float64(ms), 0, "")
		}},
		{"Error of the rate, against the tokens delivered after the first read over the time after it", func(v verdict) string {
			switch {
			case v.noTPS:
				return "none"
			case math.IsInf(v.tps, 1):
				return "a rate where none exists"
			}
			return signed(v.tps*100, 1, " %")
		}},
	} {
		var columns, same []int // same: as the second client, which is the plainest policy
		for k := range names {
			differs := slices.ContainsFunc(streams(), func(st stream) bool {
				return table.cell(rows[st.name][k]) != table.cell(rows[st.name][1])
			})
			if k < 2 || differs {
				columns = append(columns, k)
			} else {
				same = append(same, k)
			}
		}
		pick := func(from func(k int) string, columns []int) (picked []string) {
			for _, k := range columns {
				picked = append(picked, from(k))
			}
			return picked
		}
		name := func(k int) string { return names[k] }
		var out [][]string
		for _, st := range streams() {
			cell := func(k int) string { return table.cell(rows[st.name][k]) }
			out = append(out, append([]string{st.name}, pick(cell, columns)...))
		}
		fmt.Fprintf(&b, "**%s**\n\n%s\n", table.title, markdown(append([]string{"stream"}, pick(name, columns)...), out))
		if len(same) > 0 {
			fmt.Fprintf(&b, "As *%s* fare %s.\n\n", names[1], strings.Join(pick(func(k int) string { return "*" + names[k] + "*" }, same), ", "))
		}
	}
	return b.String()
}

func shapesBlock(t *testing.T) string {
	t.Helper()
	head := []string{"delivery"}
	for _, tps := range speeds() {
		head = append(head, fmt.Sprintf("%d tokens/s", tps))
	}
	byName := make(map[string][]string)
	var order []string
	for _, tps := range speeds() {
		for _, st := range shapesAt(tps) {
			if byName[st.name] == nil {
				order = append(order, st.name)
			}
			ours, hybrid, printed, why, path := rates(t, st)
			cell := "refused"
			if why.OK() {
				cell = signed(ours*100, 1, " %")
			}
			switch {
			case path == bench.PathMalformed:
				cell += " / none"
			case math.IsInf(hybrid, 1):
				cell += fmt.Sprintf(" / %.0f tokens/s", printed)
			default:
				cell += " / " + signed(hybrid*100, 1, " %")
			}
			byName[st.name] = append(byName[st.name], cell)
		}
	}
	var rows [][]string
	for _, name := range order {
		rows = append(rows, append([]string{name}, byName[name]...))
	}
	return markdown(head, rows)
}

// signed formats a deviation. What rounds to nothing has no sign.
func signed(v float64, digits int, unit string) string {
	text := strconv.FormatFloat(math.Abs(v), 'f', digits, 64)
	switch zero, _ := strconv.ParseFloat(text, 64); {
	case zero == 0:
		return "0" + unit
	case v < 0:
		return "−" + text + unit
	}
	return "+" + text + unit
}
