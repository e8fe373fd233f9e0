package site

import (
	"io/fs"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/calibrate"
	"github.com/streamgauge/streamgauge/rollup"
)

// Inputs is everything a build depends on, as values: equal inputs make equal
// bytes.
type Inputs struct {
	Config    Config
	Generated time.Time // when the site is built, baked into every page
	Simulated bool      // some of it comes from the simulated provider: every page says so
	Revision  string    // commit of the record, if known

	Providers []Provider
	Histories []rollup.History              // one for each series, in any order
	Events    []rollup.Event                // published so far; never rewritten
	Incidents []rollup.Incident             // as the record shows them now, in any order
	Traces    map[bench.Series]bench.Sample // newest success of a series, with its trace

	Dataset      []File                 // offered for download
	Schema       []Column               // the dataset's dictionary
	Queries      []Query                // answered by the first of Databases
	Databases    []Database             // of Dataset, to be opened in a browser
	PTU          PTUTable               // provisioned throughput, for the estimate
	Calibration  *calibrate.Calibration // of the clock, if one is kept
	RawRetention time.Duration          // how long the record keeps raw samples; pages say so

	Templates fs.FS // as package templates has it
	Content   fs.FS // as package content has it

	// Check may refuse a file before it is written, as one that holds a key;
	// the build ends with its error then. Nil accepts everything.
	Check func(name string, text []byte) error
}

// Config is what a fork may say about its site.
type Config struct {
	Name        string        // "Streamgauge" if empty
	BaseURL     string        // where the site will be, for feeds and canonical links; empty leaves those out
	Repository  string        // URL of the source; this program's own if empty
	Owner       string        // who runs it
	Funding     string        // who pays, in a sentence
	Sponsorship string        // what a sponsor may and may not, in a sentence or two
	DataLicence string        // "CC BY 4.0" if empty
	RankBy      rollup.Metric // which ranking comes first; the decode rate if empty
	NoIndex     bool          // ask search engines to stay away
	StaleAfter  time.Duration // a page older than this says that it is stale; 6 h if 0
	Theme       Theme         // colours of its own
	Logo        []byte        // an SVG of plain shapes or a PNG; the built-in one if nil
	Links       []Link        // more links at the foot of each page
}

// A Provider is what is published of a provider, besides its samples.
type Provider struct {
	Name     string // as in bench.Pair
	Title    string
	Homepage string // may be empty
	Note     string // a sentence about the plan measured, may be empty
	Private  bool
	Models   []Model
}

// A Model is what is published of a model at one provider.
type Model struct {
	Name        string // as in bench.Pair
	Title       string // Name if empty
	Note        string // a sentence, may be empty
	OpenWeights bool
	SizeClass   string   // e.g. "small", may be empty
	PriceIn     *float64 // USD per million input tokens; nil if unknown
	PriceOut    *float64
	Every       time.Duration // cadence; 0 if it is no longer measured
	Cadence     bench.Cadence // its slots; evenly spread by Every if zero
	Retired     bool
	Repeat      string // the command that repeats the measurement; empty for a private provider
}

// A File is a download of the dataset.
type File struct {
	Name   string // file name
	Note   string // what it holds
	Bytes  int64
	SHA256 string // hexadecimal
	Source string // where it lies on disk, to be copied
}

// A Column documents a column of the dataset.
type Column struct {
	Name, Unit, Meaning string // Name is table.column
}

// A Report is what a build did.
type Report struct {
	Files   int   // in the site
	Changed int   // written anew
	Bytes   int64 // of all files
	Pages   int   // HTML files
}
