package site

import "github.com/streamgauge/streamgauge/rollup"

const (
	datasetPath = "dataset/"
	feedPath    = "changes/feed.atom"
)

func (p *endpoint) windowPath(w rollup.Window) string {
	if w == rollup.Window7d {
		return p.path
	}
	return p.path + string(w) + "/"
}
func apiBoardPath(w rollup.Window, m rollup.Metric) string {
	return "api/v1/leaderboard/" + string(w) + "/" + string(m) + ".json"
}
func (e *edition) pairFiles() ([]file, error)      { return nil, nil }
func (e *edition) modelFiles() ([]file, error)     { return nil, nil }
func (e *edition) providerFiles() ([]file, error)  { return nil, nil }
func (e *edition) changeFiles() ([]file, error)    { return nil, nil }
func (e *edition) proseFiles() ([]file, error)     { return nil, nil }
func (e *edition) datasetFiles() ([]file, error)   { return nil, nil }
func (e *edition) apiFiles() ([]file, error)       { return nil, nil }
func (e *edition) discoveryFiles() ([]file, error) { return nil, nil }
