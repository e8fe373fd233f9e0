package site

import (
	"encoding/json"
	"fmt"
	"html/template"
	"strconv"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/site/svg"
)

// A RacePage replays the newest answers of several endpoints next to each
// other. Without scripts it shows how those of the first four arrived.
type RacePage struct {
	Page
	Heading string
	Lanes   []Lane
	Figure  *Figure
	Options []Option // every endpoint with a trace: key and name
	Data    string   // folder of the files that scripts read
	Text    string   // what is streamed in place of the answers
	Words   []string // what a lane can say: waiting, thinking, writing, done
}

// A Lane is one endpoint of the race.
type Lane struct {
	Link
	Key, Hue string
	Facts    string // of its newest answer
}

// maxLanes is how many endpoints race at once.
const maxLanes = 4

// racedPath is the folder of the recorded paces, one file for each endpoint.
const racedPath = "raced/"

// placeholder is the text that is streamed. An answer's own text is never kept.
const placeholder = "This text is a placeholder. It is the same in every lane, so that only its pace differs: each letter appears when a " +
	"letter of the recorded answer did. The answer itself is not kept, here or anywhere. What you see is time: the wait before the " +
	"first word, whether words come one by one or by the handful, and where the stream stood still. Most people read four or five " +
	"words a second; a program that waits for the last word does not read at all. So look at both, the first letter and the last. "

// An arrived is how a sample's visible text came, read by read.
type arrived struct {
	at    []time.Duration // since dispatch
	chars []int           // cumulative
}

// arrivedOf reads a trace; it reports false for one without visible text.
func arrivedOf(s *bench.Sample) (arrived, bool) {
	var a arrived
	sum, last := 0, -1
	for _, x := range s.Trace {
		if x.Mark != bench.MarkVisible || x.Chars <= 0 {
			continue
		}
		sum += x.Chars
		if n := len(a.at); n > 0 && x.Read == last {
			a.chars[n-1] = sum
			continue
		}
		last = x.Read
		a.at, a.chars = append(a.at, x.At), append(a.chars, sum)
	}
	return a, sum > 0
}

// racers returns the endpoints whose newest answer has a trace, in the order of
// the board.
func (e *edition) racers() []*endpoint {
	var list []*endpoint
	board := e.boards[listWindow][rollup.DecodeTPS]
	for i := range board.Rows {
		p := e.bySeries[board.Rows[i].Series]
		if s, ok := e.in.Traces[p.series]; ok {
			if _, ok := arrivedOf(&s); ok {
				list = append(list, p)
			}
		}
	}
	return list
}

func (e *edition) raceFiles() ([]file, error) {
	racers := e.racers()
	files := []file{e.html(racePath+"index.html", "race", func() (any, error) { return e.racePage(racers), nil })}
	for _, p := range racers {
		files = append(files, file{racedPath + p.key() + ".json", func() ([]byte, error) { return e.racedJSON(p) }})
	}
	return files, nil
}

func (e *edition) racePage(racers []*endpoint) RacePage {
	p := RacePage{
		Heading: "Watch answers arrive at the pace that was measured.", Text: placeholder,
		Words: []string{"waiting", "thinking", "writing", "done"},
	}
	if len(racers) == 0 {
		p.Heading = "There is no recorded answer to replay yet."
	}
	p.Page = e.page(racePath, racePath, "Race", "The newest answers of up to four endpoints, replayed next to each other at the pace at which they arrived.", "race.js")
	e.wear(&p.Page, "race.css")
	p.Data = p.Root + racedPath
	first := racers[:min(len(racers), maxLanes)]
	for i, r := range first {
		p.Lanes = append(p.Lanes, Lane{Link: Link{r.title(), p.Root + r.path}, Key: r.key(), Hue: "e" + strconv.Itoa(i+1), Facts: e.raceFacts(r)})
	}
	for _, r := range racers {
		p.Options = append(p.Options, Option{r.key(), r.title()})
	}
	if p.Figure = e.raceFigure(first); p.Figure != nil {
		for _, r := range first {
			p.Figure.Table.Doors = append(p.Figure.Table.Doors, doors(e.link(p.Root, e.newestQuery(r)), len(p.Figure.Table.Head)))
		}
	}
	return p
}

// raceFacts says when the newest answer of an endpoint began and ended.
func (e *edition) raceFacts(p *endpoint) string {
	s := e.in.Traces[p.series]
	a, _ := arrivedOf(&s)
	amount := plural(a.chars[len(a.chars)-1], "character")
	if n, why := s.VisibleTokens(); why.OK() {
		amount += ", " + plural(int(n), "token")
	}
	return fmt.Sprintf("First text after %s, last after %s: %s. Measured %s.",
		latency(milliseconds(a.at[0])), latency(milliseconds(a.at[len(a.at)-1])), amount, instant(s.StartedAt))
}

// raceFigure draws the answers' cumulative curves in one chart. It counts
// characters, which are the same for every model; tokens are not.
func (e *edition) raceFigure(list []*endpoint) *Figure {
	if len(list) == 0 {
		return nil
	}
	fig := &Figure{
		ID: "curves", Title: "How they arrived",
		Text:  "Characters so far, from the dispatch on, of the newest answer of each of the first on the board. A step is a read of the socket. Characters, as a token is not the same length for every model.",
		Label: "Cumulative characters of the newest answers of the first on the board",
		Table: &Table{Caption: "When parts of each answer had arrived", Head: []Head{{"Endpoint", false}, {"First text", true}, {"Half", true}, {"All", true}, {"Characters", true}}},
	}
	chart := svg.Arrival{Label: fig.Label}
	for i, p := range list {
		s := e.in.Traces[p.series]
		a, _ := arrivedOf(&s)
		curve := svg.Curve{Name: p.title(), Hue: svg.Entity(i)}
		total, half := a.chars[len(a.chars)-1], -1
		for j, at := range a.at {
			curve.Reads = append(curve.Reads, svg.Read{At: at, Tokens: float64(a.chars[j])})
			if half < 0 && 2*a.chars[j] >= total {
				half = j
			}
		}
		chart.Curves = append(chart.Curves, curve)
		after := func(i int) string { return latency(milliseconds(a.at[i])) }
		fig.Table.Rows = append(fig.Table.Rows, []string{p.title(), after(0), after(half), after(len(a.at) - 1), count(total)})
	}
	fig.Wide, fig.Phone = drawing(func(size svg.Size) template.HTML {
		chart.Size = size
		return chart.SVG()
	}, svg.Wide(300), svg.Phone(260))
	return fig
}

// racedJSON returns the pace of an endpoint's newest answer: for each read that
// brought text, milliseconds since the one before and characters it brought.
func (e *edition) racedJSON(p *endpoint) ([]byte, error) {
	s := e.in.Traces[p.series]
	a, _ := arrivedOf(&s)
	x := struct {
		Facts string    `json:"facts"`
		Think *float64  `json:"thinking_ms"` // first reasoning; null if none was seen
		MS    []float64 `json:"ms"`
		Chars []int     `json:"chars"`
	}{Facts: e.raceFacts(p)}
	if s.FirstReason > 0 {
		x.Think = known(tenth(s.FirstReason))
	}
	before, chars := 0.0, 0
	for i, at := range a.at {
		now := tenth(at)
		x.MS, x.Chars = append(x.MS, tenth(time.Duration((now-before)*1e6))), append(x.Chars, a.chars[i]-chars)
		before, chars = now, a.chars[i]
	}
	data, err := json.Marshal(x)
	if err != nil {
		return nil, fmt.Errorf("encode the pace of %s: %w", p.series, err)
	}
	return append(data, '\n'), nil
}

// tenth returns a duration in milliseconds, to a tenth.
func tenth(d time.Duration) float64 {
	return float64((d+50*time.Microsecond)/(100*time.Microsecond)) / 10
}
