package site

import (
	"bytes"
	"fmt"
	"html/template"
	"math"

	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// badgePath is the folder of the badges.
const badgePath = "badge/"

// A mark is what a badge says of one number of an endpoint. Other pages show it
// long after it was made, so it bears its date.
type mark struct {
	slug, name string
	label      string  // the name, and that it is simulated
	value      string  // with unit and interval, or the reason why there is none
	confidence float64 // of the interval, 0 if there is none
	date       string
	known      bool
	colour     colour // of the ground that the value stands on
}

// text is what stands on the right side of a badge.
func (m mark) text() string { return m.value + " · " + m.date }

// marksFor returns what the badges of an endpoint say: speed, first token, success.
func (e *edition) marksFor(p *endpoint) []mark {
	s := p.summary[listWindow]
	date, _ := e.dateOf(p)
	marks := []mark{
		e.levelMark(p, rollup.DecodeTPS, markNames()[0]),
		e.levelMark(p, rollup.TTFT, markNames()[1]),
		{slug: "success", name: markNames()[2], colour: badgeNeutral},
	}
	if x := s.Reliability.SuccessRate; x.OK() {
		marks[2].known, marks[2].confidence = true, 0.95
		marks[2].value = fmt.Sprintf("%s %% (%s–%s)", percent(x.Value), percent(x.Interval.Lo), percent(x.Interval.Hi))
	} else {
		marks[2].value = because(x.Why)
	}
	for i := range marks {
		m := &marks[i]
		m.date, m.label = date, m.name
		if !m.known {
			m.colour = badgeAbsent
		}
		if e.in.Simulated {
			m.label = "simulated " + m.name
		}
	}
	return marks
}

// dateOf says of when the numbers of an endpoint are, and whether that is too
// long ago for them to hold.
func (e *edition) dateOf(p *endpoint) (text string, old bool) {
	const form = "2 Jan 2006"
	s := p.summary[listWindow]
	switch {
	case s.LastSuccess.IsZero() || s.Freshness != stats.Stale:
		return e.now.Format(form), false
	case p.model.Retired:
		return "until " + s.LastSuccess.UTC().Format(form), true
	}
	return "stale since " + s.LastSuccess.UTC().Format(form), true
}

func (e *edition) levelMark(p *endpoint, metric rollup.Metric, name string) mark {
	l := e.level(p, listWindow, metric)
	m := mark{slug: faceOf(metric).slug, name: name, colour: e.theme.light[hueOf(metric)]}
	if m.value, m.known = levelText(metric, l); !m.known {
		m.value = l.Why
	} else if sortKey(l.lo) != "" {
		m.confidence = l.confidence
	}
	return m
}

// levelText writes a level with its unit and its interval, if it has them.
func levelText(metric rollup.Metric, l level) (text string, ok bool) {
	if l.Why != "" || math.IsNaN(l.value) {
		return "", false
	}
	text = full(metric, l.value)
	if sortKey(l.lo) != "" && sortKey(l.hi) != "" {
		text += " (" + bare(metric, l.lo) + "–" + bare(metric, l.hi) + ")"
	}
	return text, true
}

// badgeFiles are the badges of every endpoint: a drawing to embed, and the same
// in the form of https://shields.io/badges/endpoint-badge.
func (e *edition) badgeFiles() ([]file, error) {
	ruler, err := newRuler()
	if err != nil {
		return nil, err
	}
	var files []file
	for _, p := range e.endpoints {
		for i, slug := range badgeSlugs() {
			path := badgePath + p.key() + "/" + slug
			files = append(files,
				file{path + ".svg", func() ([]byte, error) { return badgeSVG(p.title(), e.marksFor(p)[i], ruler), nil }},
				e.json(path+".json", func() any { return shieldOf(e.marksFor(p)[i]) }),
			)
		}
	}
	return files, nil
}

// markNames are the names of an endpoint's badges, in the order of marksFor.
func markNames() []string { return []string{"decode speed", "first token", "success"} }

// badgeSlugs are the file names of an endpoint's badges, in the order of marksFor.
func badgeSlugs() []string {
	return []string{faceOf(rollup.DecodeTPS).slug, faceOf(rollup.TTFT).slug, "success"}
}

// A shield is a badge as Shields reads it, schema version 1.
type shield struct {
	Version int    `json:"schemaVersion"`
	Label   string `json:"label"`
	Message string `json:"message"`
	Colour  string `json:"color"`
	Seconds int    `json:"cacheSeconds"`
}

func shieldOf(m mark) shield {
	return shield{1, m.label, m.text(), m.colour.String(), 3600}
}

// The grounds of a badge. White text on each has a contrast of 4.5 or more.
var (
	badgeLabel   = colour{0x3b, 0x46, 0x50}
	badgeNeutral = colour{0x1f, 0x6a, 0x52}
	badgeAbsent  = colour{0x5c, 0x63, 0x69}
)

// badgeSVG draws a badge. It names no font of its own: whoever shows it has
// Verdana or something like it, and textLength makes that fit.
func badgeSVG(title string, m mark, r *ruler) []byte {
	const pad, height = 6, 20
	left, right := r.width(m.label), r.width(m.text())
	split := left + 2*pad
	width := split + right + 2*pad
	esc := template.HTMLEscapeString
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" role="img" aria-label="%s">`, width, height, esc(title+", "+m.label+": "+m.text()))
	fmt.Fprintf(&b, `<title>%s</title>`, esc(title+", "+m.label+": "+m.text()))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="3" fill="%s"/><path fill="%s" d="M%d 0h%da3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-%dz"/>`, width, height, badgeLabel, m.colour, split, width-split-3, width-split-3)
	b.WriteString(`<g fill="#fff" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">`)
	fmt.Fprintf(&b, `<text x="%d" y="14" textLength="%d">%s</text><text x="%d" y="14" textLength="%d">%s</text></g></svg>`+"\n",
		pad, left, esc(m.label), split+pad, right, esc(m.text()))
	return b.Bytes()
}
