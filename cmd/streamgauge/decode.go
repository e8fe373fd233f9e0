package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// decodeCmd prints what a decoder makes of a recorded response body.
type decodeCmd struct {
	Protocol string `required:"" placeholder:"NAME" enum:"openai_chat,openai_responses,anthropic,gemini,ollama" help:"Wire format: ${enum}."`
	Status   int    `default:"200" help:"HTTP status the body came with."`
	File     string `arg:"" help:"The body; - reads standard input."`
}

// Help is printed under the usage line.
func (decodeCmd) Help() string {
	return "Example: streamgauge decode --protocol anthropic body.sse"
}

// decoded is the printed form: the columns of the recordings' index under the
// same names, then the detail and the comparable usage. Absent is null.
type decoded struct {
	Protocol        string  `json:"protocol"`
	HTTPStatus      int     `json:"http_status"`
	FirstVisible    *int    `json:"first_visible_event"`
	VisibleEvents   *int    `json:"n_visible_events"` // this and the next two are null for an error body
	ReasoningEvents *int    `json:"n_reasoning_events"`
	VisibleChars    *int64  `json:"visible_chars"`
	UsageInput      *int64  `json:"usage_input"`
	UsageCached     *int64  `json:"usage_cached"`
	UsageOutput     *int64  `json:"usage_output"`
	UsageReasoning  *int64  `json:"usage_reasoning"`
	Finish          *string `json:"finish_reason"`
	Complete        bool    `json:"complete"`
	Error           *string `json:"expected_error"`
	DataEvents      int     `json:"n_data_events"`

	Detail *string      `json:"error_detail"`
	Tokens decodedUsage `json:"usage"`
	Model  *string      `json:"served_by"`
}

// decodedUsage is usage in comparable terms: output includes reasoning, input
// includes what came from a cache.
type decodedUsage struct {
	Input     *int64 `json:"input_tokens"`
	Cached    *int64 `json:"cached_tokens"`
	Output    *int64 `json:"output_tokens"`
	Reasoning *int64 `json:"reasoning_tokens"`
	Visible   *int64 `json:"visible_tokens"`
	Missing   bool   `json:"missing"`
	Clamped   bool   `json:"clamped"`
}

// Run decodes and prints. A body that is a failure is still a result.
func (c *decodeCmd) Run(a *app) error {
	body := a.stdin
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return fmt.Errorf("open the recording: %w", err)
		}
		defer f.Close()
		body = f
	}
	protocol, ok := wire.ByName(c.Protocol)
	if !ok {
		return usageError{fmt.Errorf("unknown protocol %q; want one of %s", c.Protocol, strings.Join(wire.Names(), ", "))}
	}
	out := decoded{Protocol: c.Protocol, HTTPStatus: c.Status}
	read := out.failure
	if c.Status/100 == 2 {
		read = func(body io.Reader) error { return out.reply(protocol, body) }
	}
	if err := read(body); err != nil {
		return fmt.Errorf("read the recording: %w", err)
	}
	enc := json.NewEncoder(a.stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// reply fills in what a body with a good status came to. An error is one of
// reading it, not of what it says.
func (d *decoded) reply(p wire.Protocol, body io.Reader) error {
	var reply wire.Reply
	var failed error
	for ev, err := range p.Decode(body) {
		if err != nil {
			failed = err
			break
		}
		reply.Add(ev)
	}
	if failed != nil && !errors.Is(failed, wire.ErrMalformed) {
		return failed
	}
	if first, ok := reply.FirstVisible(); ok {
		d.FirstVisible = &first
	}
	d.VisibleEvents, d.ReasoningEvents = &reply.VisibleEvents, &reply.ReasoningEvents
	d.VisibleChars, d.DataEvents = &reply.Visible.Chars, reply.DataEvents
	d.UsageInput, d.UsageCached = optional(reply.Usage.Input), optional(reply.Usage.Cached)
	d.UsageOutput, d.UsageReasoning = optional(reply.Usage.Output), optional(reply.Usage.Reasoning)
	d.Finish, d.Model = told(reply.Finish), told(reply.Model)
	d.Complete = reply.Complete()
	verdict := reply.Verdict(failed)
	d.Error, d.Detail = told(verdict.Kind.String()), told(string(verdict.Detail))
	t := reply.Tokens()
	d.Tokens = decodedUsage{
		Input: optional(t.Input), Cached: optional(t.Cached), Output: optional(t.Output),
		Reasoning: optional(t.Reasoning), Visible: optional(t.Visible), Missing: t.Missing, Clamped: t.Clamped,
	}
	return nil
}

// failure fills in what an error body says. An error is one of reading it.
func (d *decoded) failure(body io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(body, wire.MaxBody))
	if err != nil {
		return err
	}
	verdict := wire.Classify(d.HTTPStatus, http.Header{}, text)
	d.Error, d.Detail = told(verdict.Kind.String()), told(string(verdict.Detail))
	return nil
}

// optional returns a count for JSON: null where it is unknown.
func optional(c wire.Count) *int64 {
	if !c.Known {
		return nil
	}
	return &c.N
}

// told returns a text for JSON: null where nothing was said.
func told(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
