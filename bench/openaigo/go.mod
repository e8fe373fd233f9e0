// The module of a test alone: it keeps another client's library out of the
// program's own dependencies.
module github.com/streamgauge/streamgauge/bench/openaigo

go 1.26.0

require (
	github.com/openai/openai-go/v3 v3.98.0
	github.com/streamgauge/streamgauge v0.0.0
)

require (
	github.com/coder/websocket v1.8.15 // indirect
	github.com/goccy/go-yaml v1.19.2 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	github.com/robfig/cron/v3 v3.0.1 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)

replace github.com/streamgauge/streamgauge => ../..
