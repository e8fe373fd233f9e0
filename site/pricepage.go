package site

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/site/svg"
)

// A PricePage sets price against speed.
type PricePage struct {
	Page
	Heading string
	State   PriceState
	Figure  *Figure
	Unknown string // endpoints that have no price or no speed, may be empty
}

// A PriceState is what the page can say.
type PriceState string

// The states of the page.
const (
	PriceShown   PriceState = "shown"
	PriceUnknown PriceState = "unknown" // no price is known
	PriceNoSpeed PriceState = "nospeed" // prices are, speeds are not
)

// An offer is an endpoint with its price and speed.
type offer struct {
	*endpoint
	price float64 // USD per million output tokens
	speed level
	place place
}

// A place says where an offer lies with regard to the Pareto line.
type place string

const (
	onLine   place = "on it"
	nearLine place = "cannot be told from it"
	offLine  place = "below it"
)

func (e *edition) priceFiles() ([]file, error) {
	return []file{e.html(pricePath+"index.html", "price", func() (any, error) { return e.pricePage(), nil })}, nil
}

// offers returns the endpoints whose price and speed are known, the cheapest
// first, and how many of the others have a price.
func (e *edition) offers() (list []offer, priced int) {
	for _, p := range e.endpoints {
		if p.model.PriceOut == nil {
			continue
		}
		priced++
		if l := e.level(p, listWindow, rollup.DecodeTPS); l.value > 0 {
			list = append(list, offer{endpoint: p, price: *p.model.PriceOut, speed: l})
		}
	}
	slices.SortStableFunc(list, func(a, b offer) int {
		return cmp.Or(cmp.Compare(a.price, b.price), cmp.Compare(b.speed.value, a.speed.value))
	})
	var best *offer
	for i := range list {
		o := &list[i]
		switch {
		case best == nil || o.speed.value > best.speed.value:
			o.place, best = onLine, o
		case o.speed.hi >= best.speed.lo: // false where either is unknown
			o.place = nearLine
		default:
			o.place = offLine
		}
	}
	return list, priced
}

func (e *edition) pricePage() PricePage {
	list, priced := e.offers()
	page := PricePage{State: PriceShown}
	front, near := 0, 0
	for _, o := range list {
		switch o.place {
		case onLine:
			front++
		case nearLine:
			near++
		}
	}
	switch {
	case priced == 0:
		page.State, page.Heading = PriceUnknown, "No price is known."
	case len(list) == 0:
		page.State, page.Heading = PriceNoSpeed, "Prices are known, but no speed yet."
	case near > 0:
		page.Heading = fmt.Sprintf("Any of %s endpoints may be the best offer.", words(front+near))
	case front == 1:
		page.Heading = fmt.Sprintf("None is cheaper than %s, and none faster.", list[0].title())
	default:
		page.Heading = fmt.Sprintf("%s endpoints are beaten by none on both price and speed.", capital(words(front)))
	}
	page.Page = e.page(pricePath, pricePath, "Price against speed", "What a million output tokens cost and how fast they stream, endpoint by endpoint, with the line of the best offers.")
	if n := len(e.endpoints) - len(list); n > 0 && page.State == PriceShown {
		page.Unknown = plural(n, "endpoint") + " without a published price or a speed of the last " + windowWords(listWindow) + " left out."
	}
	if len(list) > 0 {
		page.Figure = priceFigure(page.Root, list)
	}
	return page
}

func priceFigure(root string, list []offer) *Figure {
	fig := &Figure{
		ID: "offers", Title: "Price against decode speed",
		Text:  "To the left is cheaper, up is faster. Along the dashed line more speed costs more; the offers on it are drawn in blue. One below the line whose interval reaches it cannot be told from those on it.",
		Label: "Price of a million output tokens against decode speed, both axes logarithmic",
		Table: &Table{Caption: "The cheapest first", Head: []Head{{"Endpoint", false}, {"$/M input", true}, {"$/M output", true}, {"Decode speed, tok/s", true}, {"95 % interval or stricter", true}, {"The line", false}}},
	}
	chart := svg.Scatter{
		Label: fig.Label, TitleX: "US dollars per million output tokens", TitleY: "tokens a second", FormatX: dollarTick,
		BetterX: svg.Lower, BetterY: svg.Higher, Zero: "free", Pareto: true,
	}
	for _, o := range list {
		hue := svg.Neutral
		if o.place == onLine {
			hue = svg.Speed
		}
		chart.Marks = append(chart.Marks, svg.Mark{X: o.price, Y: o.speed.value, Name: o.title(), Hue: hue})
		interval := absent
		if !math.IsNaN(o.speed.lo) {
			interval = rate(o.speed.lo) + "–" + rate(o.speed.hi)
		}
		fig.Table.Rows = append(fig.Table.Rows, []string{o.title(), priceNumber(o.model.PriceIn).Text, price(o.price), o.speed.Text, interval, string(o.place)})
		cost, speed := root+o.path+"#"+ofPrice, root+o.path+"#"+ofLevel(rollup.DecodeTPS)
		fig.Table.Doors = append(fig.Table.Doors, []string{"", cost, cost, speed, speed})
	}
	fig.Wide, fig.Phone = drawing(func(s svg.Size) template.HTML {
		chart.Size = s
		return chart.SVG()
	}, svg.Wide(440), svg.Phone(400))
	return fig
}

// dollarTick formats a tick of the price axis.
func dollarTick(v float64) string { return "$" + svg.Plain(v) }
