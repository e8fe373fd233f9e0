package data

import (
	"bytes"
	"compress/zlib"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

var sizesLong = flag.Bool("sizes", false, "commit and push days of simulated workloads, and print what a year of them weighs")

// What the record may weigh, so that a column added without a thought for its
// cost is noticed.
const (
	maxPushed    = 2_200       // bytes a push of 50 samples, ten minutes of the big workload
	maxYearBig   = 155_000_000 // bytes a year in the repository, at 48 commits a day
	maxYearSmall = 16_000_000  // the same, at 24 commits a day
	maxInGit     = 4_000_000   // bytes of any one file
	maxDownload  = 80_000_000  // bytes of streamgauge.sqlite after a year of the big workload

	// A server that repacks with its default depth limit of 50 keeps every
	// fiftieth version of a file in full.
	fullEvery = 50
)

// TestSizes commits and pushes simulated runs as a job would, and counts the
// bytes. With -sizes it does so for days, and prints the table of the guide.
func TestSizes(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	t.Parallel()
	if !*sizesLong {
		lab := newSizeLab(t, bigWorkload())
		lab.fill(sizesFrom.Add(12*time.Hour), 12*time.Hour)
		lab.push()
		pushed := lab.run(sizesFrom.Add(14*time.Hour), 10*time.Minute)
		if mean := mean(pushed); len(pushed) != 12 || mean > maxPushed {
			t.Errorf("%d pushes of ten minutes, %.0f bytes on average, want at most %d", len(pushed), mean, maxPushed)
		} else {
			t.Logf("a push of ten minutes: %.0f bytes", mean)
		}
		return
	}
	fine := newSizeLab(t, bigWorkload()).year(144, 2)
	big := newSizeLab(t, bigWorkload()).year(48, 3)
	small := newSizeLab(t, smallWorkload()).year(24, 4)
	download := downloadSizes(t, bigWorkload(), 4)
	t.Logf("\n%s\n%s", sizeTable(fine, big, small), download)
	check := func(what string, got, limit float64) {
		if got > limit {
			t.Errorf("%s: %.0f bytes, want at most %.0f", what, got, limit)
		}
	}
	check("push of ten minutes", fine.pushed, maxPushed)
	check("a year of the big workload", big.total(), maxYearBig)
	check("a year of the small workload", small.total(), maxYearSmall)
	check("largest file", max(big.dayFile, big.halfFile, small.dayFile, small.halfFile), maxInGit)
	check("download", download.year(), maxDownload)
}

// sizesFrom is when the simulated workloads begin: with a month.
var sizesFrom = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// A workload is a set of simulated models, each measured so often.
type workload struct {
	name  string
	every []time.Duration // by model
}

func bigWorkload() workload {
	return workload{"120 models", slices.Concat(
		slices.Repeat([]time.Duration{10 * time.Minute}, 40),
		slices.Repeat([]time.Duration{time.Hour}, 60),
		slices.Repeat([]time.Duration{6 * time.Hour}, 20))}
}

func smallWorkload() workload {
	return workload{"20 models", slices.Repeat([]time.Duration{time.Hour}, 20)}
}

// between returns the samples that start in [from, to), in order of time. Slots
// are spread evenly; a sample starts up to four minutes after its slot, as the
// runs of a tick queue for their turn.
func (w workload) between(from, to time.Time) []bench.Sample {
	var samples []bench.Sample
	for i, every := range w.every {
		m := newModel(i)
		phase := every * time.Duration(i*7%len(w.every)) / time.Duration(len(w.every))
		for slot := from.Add(-every).Truncate(every).Add(phase.Truncate(10 * time.Minute)); slot.Before(to); slot = slot.Add(every) {
			rnd := rand.New(rand.NewPCG(uint64(i), uint64(slot.Unix())))
			at := slot.Add(time.Duration(rnd.Int64N(int64(4 * time.Minute)))).Truncate(ms)
			if at.Before(from) || !at.Before(to) {
				continue
			}
			samples = append(samples, m.sample(rnd, slot, at))
		}
	}
	slices.SortFunc(samples, func(a, b bench.Sample) int { return a.StartedAt.Compare(b.StartedAt) })
	return samples
}

// A simModel is what stays the same between the answers of a simulated model.
type simModel struct {
	name             string
	rtt, wait        float64 // ms
	rate             float64 // tokens/s
	perChunk, merges float64
	reasons, endless bool
}

func newModel(i int) simModel {
	rnd := rand.New(rand.NewPCG(uint64(i), 4711))
	return simModel{
		name: fmt.Sprintf("model-%03d", i), rtt: 5 + 90*rnd.Float64(),
		wait: 250 * math.Exp(rnd.NormFloat64()*0.7), rate: 70 * math.Exp(rnd.NormFloat64()*0.6),
		perChunk: []float64{1, 1, 1, 2, 4}[rnd.IntN(5)], merges: rnd.Float64() * 0.2,
		reasons: rnd.IntN(4) == 0, endless: rnd.IntN(10) < 8,
	}
}

// sample is one answer: log-normal waits and rates, and now and then a failure,
// a stall or a disturbance.
func (m simModel) sample(rnd *rand.Rand, slot, at time.Time) bench.Sample {
	us := func(millis float64) time.Duration {
		return time.Duration(max(millis, 0.001) * 1e6).Truncate(time.Microsecond)
	}
	spread := func(sigma float64) float64 { return math.Exp(rnd.NormFloat64() * sigma) }
	s := success(m.name, at)
	s.Scheduled = slot
	dns, connect, tls := us(1.5*spread(0.6)), us(m.rtt*spread(0.05)), us(1.3*m.rtt*spread(0.1))
	s.Phases = bench.Phases{DNS: dns, Connect: connect, TLS: tls, Setup: dns + connect + tls + us(0.8*spread(0.3))}
	if rnd.IntN(50) == 0 {
		f := failed(m.name, at, wire.ErrorKind(1+rnd.IntN(7)))
		f.Scheduled, f.Phases = slot, s.Phases
		return f
	}
	s.Phases.FirstByte = us(m.rtt + m.wait*0.8*spread(0.35))
	s.FirstText = s.Phases.FirstByte + us(m.wait*0.2*spread(0.5))
	output := float64(bench.MaxOutputTokens)
	s.Finish = "length"
	if !m.endless {
		output, s.Finish = math.Round(output*0.7*spread(0.12)), "stop"
	}
	visible := output
	s.Usage = bench.Usage{Input: wire.Known(63), Cached: wire.Known(0), Output: wire.Known(int64(output))}
	if m.reasons {
		reasoning := math.Round(output * 0.4 * spread(0.2))
		visible -= reasoning
		s.Usage.Reasoning = wire.Known(int64(reasoning))
		s.FirstReason, s.ReasonChunks = s.FirstText, int(reasoning/m.perChunk)
		s.FirstText += us(reasoning / m.rate * 1000)
	}
	s.Usage.Visible = wire.Known(int64(visible))
	rate := m.rate * spread(0.15)
	s.Chunks = max(2, int(visible/m.perChunk))
	s.Deliveries = max(2, s.Chunks-int(float64(s.Chunks)*m.merges*rnd.Float64()))
	gap := 1000 * m.perChunk / rate
	s.LastText = s.FirstText + us(float64(s.Chunks-1)*gap)
	s.Done = s.LastText + us(2*spread(0.8))
	s.Gaps = bench.Gaps{
		P50: us(gap * 0.9 * spread(0.05)), P95: us(gap * 1.8 * spread(0.1)), Max: us(gap * 5 * spread(0.5)),
		Burstiness: max(-1, min(1, -0.2+0.1*rnd.NormFloat64())), HasBurstiness: true,
	}
	if rnd.IntN(30) == 0 {
		s.Gaps.Stalls, s.Gaps.Stall = 1, us(700*spread(0.4))
		s.LastText += s.Gaps.Stall
		s.Done += s.Gaps.Stall
		s.Gaps.Max = s.Gaps.Stall
	}
	s.Chars = int(visible * 4.6 * spread(0.03))
	s.Words = int(float64(s.Chars) / 6.1 * spread(0.02))
	s.FirstReadChars = min(s.Chars, 1+int(m.perChunk*4.6*spread(0.5)))
	s.Noise = bench.Noise{DelayMax: us(0.3 * spread(0.8)), Noisy: rnd.IntN(100) == 0}
	return s
}

// A sizeLab is a record, the repository it is committed to, and its remote.
type sizeLab struct {
	testing.TB
	workload workload
	record   *Store
	env      []string
	remote   string
	sent     string // where what a push sends is kept
	now      time.Time
	commits  int
}

func newSizeLab(t testing.TB, w workload) *sizeLab {
	t.Helper()
	l := &sizeLab{TB: t, workload: w, record: newRecord(t), now: sizesFrom}
	dir := t.TempDir()
	l.remote, l.sent = filepath.Join(dir, "remote.git"), filepath.Join(dir, "sent")
	l.env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_DIR="+filepath.Join(dir, "local.git"), "GIT_WORK_TREE="+l.record.Dir(),
		"GIT_AUTHOR_NAME="+authorName, "GIT_AUTHOR_EMAIL="+authorEmail, "GIT_COMMITTER_NAME="+authorName, "GIT_COMMITTER_EMAIL="+authorEmail)
	l.git("", "init", "-q", "-b", "data")
	l.git("", "config", "gc.auto", "0")
	remote := exec.Command("git", "init", "-q", "--bare", l.remote)
	remote.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := remote.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range fixtures {
		if err := os.WriteFile(filepath.Join(l.record.Dir(), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		l.git("", "add", name)
	}
	// Sixty days of raw files are named in every tree, whatever is in them.
	rnd := rand.New(rand.NewPCG(1, 1))
	for d := range int(RawRetention/day) - 1 {
		blob := strings.TrimSpace(l.git(fmt.Sprint(rnd.Uint64()), "hash-object", "-w", "--stdin"))
		l.git("", "update-index", "--add", "--cacheinfo", "100644,"+blob+","+rawFile(sizesFrom.Add(-time.Duration(d+1)*day)).relative())
	}
	return l
}

func (l *sizeLab) git(stdin string, args ...string) string {
	l.Helper()
	cmd := exec.Command("git", args...)
	cmd.Env, cmd.Stdin, cmd.Dir = l.env, strings.NewReader(stdin), l.record.Dir()
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		l.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, &complaint)
	}
	return out.String()
}

// fill takes samples up to a time, in pieces as large as a step.
func (l *sizeLab) fill(to time.Time, step time.Duration) {
	l.Helper()
	for l.now.Before(to) {
		next := l.now.Add(step)
		ingest(l, l.record, l.workload.between(l.now, next)...)
		l.now = next
	}
}

// push commits what changed, as a job does that took the journal of another,
// pushes it, and returns the bytes of the pack sent.
func (l *sizeLab) push() float64 {
	l.Helper()
	l.commits++
	rnd := rand.New(rand.NewPCG(uint64(l.commits), 8))
	job := 17_000_000_000 + 5_000*l.commits + rnd.IntN(5_000) // ids are handed out to all repositories alike
	if err := l.record.NoteTaken(l.Context(), l.now, []string{fmt.Sprintf("journal-%d-1-all", job)}); err != nil {
		l.Fatal(err)
	}
	l.git("", "add", "--ignore-removal", "catalog.sqlite", "raw")
	if _, err := os.Stat(filepath.Join(l.record.Dir(), "rollups")); err == nil {
		l.git("", "add", "rollups")
	}
	when := fmt.Sprintf("%d +0000", l.now.Unix())
	l.env = append(l.env, "GIT_AUTHOR_DATE="+when, "GIT_COMMITTER_DATE="+when)
	l.git("", "commit", "-q", "-m", fmt.Sprintf("Record %s: %d ok, %d failed", l.now.Format("2006-01-02T15:04Z"), 10+rnd.IntN(140), rnd.IntN(10)))
	l.git("", "push", "-q", "--thin", "--receive-pack=tee '"+l.sent+"' | git receive-pack", l.remote, "data")
	sent, err := os.ReadFile(l.sent)
	if err != nil {
		l.Fatal(err)
	}
	_, pack, found := bytes.Cut(sent, []byte("0000PACK"))
	if !found {
		l.Fatalf("no pack among the %d bytes pushed", len(sent))
	}
	return float64(len("PACK") + len(pack))
}

// run pushes every step up to a time, and returns the bytes of each push.
func (l *sizeLab) run(to time.Time, step time.Duration) (pushed []float64) {
	l.Helper()
	for l.now.Before(to) {
		l.fill(l.now.Add(step), step)
		pushed = append(pushed, l.push())
	}
	return pushed
}

// A yearOf is what a year of a workload weighs.
type yearOf struct {
	workload          string
	perDay            int     // commits
	pushed, closing   float64 // bytes of an ordinary push, and of one that closes a day
	dayFile, halfFile float64 // bytes at the end of the day, of the half month
	copies            float64 // bytes a year of full copies
}

func (y yearOf) deltas() float64 { return 365 * (float64(y.perDay)*y.pushed + y.closing) }
func (y yearOf) total() float64  { return y.deltas() + y.copies }

// year lives through so many days, at least two, and tells what a year of them
// weighs. Half months are taken to have 16 days, each as heavy as the last one lived.
func (l *sizeLab) year(perDay, days int) yearOf {
	l.Helper()
	y := yearOf{workload: l.workload.name, perDay: perDay}
	step := day / time.Duration(perDay)
	half := rollupFile(sizesFrom)
	var pushed, dayCopies, halfSizes, halfCopies []float64
	for d := range days {
		begin := sizesFrom.Add(time.Duration(d) * day)
		for l.now.Before(begin.Add(day)) {
			l.fill(l.now.Add(step), step)
			pushed = append(pushed, l.push())
			dayCopies = append(dayCopies, l.packed(rawFile(begin)))
		}
		y.dayFile = max(y.dayFile, l.size(rawFile(begin)))
		l.fill(l.now.Add(step), step) // a day is over when its successor has samples
		if r, err := l.record.Rollup(l.Context(), l.now.Add(time.Hour)); err != nil || len(r.Closed) != 1 {
			l.Fatalf("closed %v: %v", r.Closed, err)
		}
		y.closing = l.push()
		halfSizes = append(halfSizes, l.size(half))
		halfCopies = append(halfCopies, l.packed(half))
	}
	last := days - 1
	y.pushed = mean(pushed[1:]) // the first one is the whole record
	y.closing -= y.pushed
	y.halfFile = halfSizes[last] + float64(16-days)*(halfSizes[last]-halfSizes[last-1])
	meanHalf := halfCopies[0] + 7.5*(halfCopies[last]-halfCopies[last-1]) // after 1 to 16 days
	y.copies = 365 * (float64(perDay)*mean(dayCopies) + meanHalf) / fullEvery
	return y
}

func (l *sizeLab) size(name fileName) float64 {
	info, err := os.Stat(l.record.path(name))
	if err != nil {
		l.Fatal(err)
	}
	return float64(info.Size())
}

// packed returns the size of a file as git keeps a full copy of it.
func (l *sizeLab) packed(name fileName) float64 {
	content, err := os.ReadFile(l.record.path(name))
	if err != nil {
		l.Fatal(err)
	}
	return packed(content)
}

func packed(content []byte) float64 {
	var n counter
	z := zlib.NewWriter(&n)
	io.Copy(z, bytes.NewReader(content)) // a counter takes everything
	z.Close()
	return float64(n)
}

type counter int64

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// A downloadSize is what parts of the download weigh.
type downloadSize struct{ base, raw, hourly, daily float64 } // bytes; of a day but for the first

// year returns the bytes of the main download after a year.
func (d downloadSize) year() float64 {
	hourlyDays := t0.Sub(Whole(t0).Hourly.From).Hours() / 24
	return d.base + float64(RawRetention/day)*d.raw + hourlyDays*d.hourly + 365*d.daily
}

// downloadSizes assembles so many days of a workload, part by part.
func downloadSizes(t *testing.T, w workload, days int) downloadSize {
	t.Helper()
	s := newRecord(t)
	end := sizesFrom.Add(time.Duration(days) * day)
	ingest(t, s, w.between(sizesFrom, end.Add(time.Hour))...)
	if r, err := s.Rollup(t.Context(), end.Add(time.Hour)); err != nil || len(r.Closed) != days {
		t.Fatalf("closed %v: %v", r.Closed, err)
	}
	size := func(d Download) float64 {
		path := filepath.Join(t.TempDir(), "part.sqlite")
		if err := s.Assemble(t.Context(), path, d); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return float64(info.Size())
	}
	none := Nothing()
	base := size(Download{Raw: none, Hourly: none, Daily: none})
	per := func(d Download) float64 { return (size(d) - base) / float64(days) }
	return downloadSize{
		base: base,
		raw:  per(Download{Raw: Extent{To: end}, Hourly: none, Daily: none}), hourly: per(Download{Raw: none, Daily: none}),
		daily: per(Download{Raw: none, Hourly: none}),
	}
}

func (d downloadSize) String() string {
	return fmt.Sprintf("download: base %.0f, a day of raw %.0f, hourly %.0f, daily %.0f; a year %.1f MB", d.base, d.raw, d.hourly, d.daily, d.year()/1e6)
}

// sizeTable is the table of the guide.
func sizeTable(years ...yearOf) string {
	var b strings.Builder
	b.WriteString("| workload | commits a day | bytes a push | closing a day | day file | half-month file | pushed a year | full copies | together |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, y := range years {
		fmt.Fprintf(&b, "| %s | %d | %.0f | %.0f | %.2f MB | %.1f MB | %.1f MB | %.1f MB | %.1f MB |\n",
			y.workload, y.perDay, y.pushed, y.closing, y.dayFile/1e6, y.halfFile/1e6, y.deltas()/1e6, y.copies/1e6, y.total()/1e6)
	}
	return b.String()
}
