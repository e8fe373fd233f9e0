package site

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
)

// A NumberFile is a file of the site that programs read: JSON or CSV.
type NumberFile struct {
	Path  string                 // below the site
	Bytes func() ([]byte, error) // as a build writes them; safe for concurrent use
}

// NumberFiles derives the files of numbers again, as [Build] does: the API, the
// tables beside the pages, the data of comparisons and charts, the badges' JSON.
// Left out are the paces of the race, as they are no part of the record, and
// what depends on where the site is.
func NumberFiles(ctx context.Context, in Inputs) ([]NumberFile, error) {
	e, err := newEdition(ctx, in)
	if err != nil {
		return nil, err
	}
	var numbers []NumberFile
	for _, part := range []func() ([]file, error){e.apiFiles, e.boardFiles, e.pairFiles, e.compareFiles, e.reliabilityFiles, e.badgeFiles} {
		files, err := part()
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if ext := path.Ext(f.path); ext == ".json" || ext == ".csv" {
				numbers = append(numbers, NumberFile{f.path, f.make})
			}
		}
	}
	return numbers, nil
}

// EventsPath is where the API lists events.
const EventsPath = apiPath + "events.json"

// PublishedInputs reads from the API of a published site what its numbers rest
// on besides the record: when it was built, and what it says of providers,
// models and cadences. get returns a file of the site; what is in it is not
// trusted.
func PublishedInputs(get func(path string) ([]byte, error)) (Inputs, error) {
	var in Inputs
	read := func(file string, to any) error {
		text, err := get(file)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, to); err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		return nil
	}
	var listed struct {
		apiHead
		Providers []apiProvider `json:"providers"`
	}
	if err := read(apiPath+"providers.json", &listed); err != nil {
		return in, err
	}
	if listed.GeneratedAt.IsZero() {
		return in, fmt.Errorf("read %s: it does not say when it was made", apiPath+"providers.json")
	}
	in.Generated, in.Simulated, in.Revision, in.Config.DataLicence = listed.GeneratedAt, listed.Simulated, listed.Revision, listed.Licence
	seen := map[bench.Pair]bool{}
	for _, p := range listed.Providers {
		provider := Provider{Name: p.Name, Title: p.Title, Homepage: p.Homepage, Private: p.Private}
		for _, q := range p.Pairs {
			pair := bench.Pair{Provider: q.Provider, Model: q.Model}
			if seen[pair] || q.Provider != p.Name {
				continue
			}
			seen[pair] = true
			if !strings.HasPrefix(q.Detail, apiPath) || path.Clean(q.Detail) != q.Detail {
				return in, fmt.Errorf("read %s: %q is no path of the API", apiPath+"providers.json", q.Detail)
			}
			var detail apiDetail
			if err := read(q.Detail, &detail); err != nil {
				return in, err
			}
			provider.Models = append(provider.Models, publishedModel(&detail))
		}
		in.Providers = append(in.Providers, provider)
	}
	return in, nil
}

// publishedModel returns what an answer of the API says of a model.
func publishedModel(d *apiDetail) Model {
	return Model{
		Name: d.Model, Title: d.Title, OpenWeights: d.OpenWeights, SizeClass: d.SizeClass,
		PriceIn: d.PriceIn, PriceOut: d.PriceOut, Every: time.Duration(math.Round(d.EverySec)) * time.Second,
	}
}
