package bench

import (
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A ListFormat names how a provider lists its models.
type ListFormat string

// The formats of model lists.
const (
	ListOpenAI     ListFormat = "openai"     // GET /models: data[].id, or a bare array
	ListOllama     ListFormat = "ollama"     // GET /api/tags: models[].name
	ListGemini     ListFormat = "gemini"     // GET /models, paged by pageToken: models[].name
	ListAnthropic  ListFormat = "anthropic"  // GET /models, paged by after_id: data[].id
	ListOpenRouter ListFormat = "openrouter" // as openai, with prices in USD per token
)

func listFormats() []string {
	return []string{string(ListOpenAI), string(ListOllama), string(ListGemini), string(ListAnthropic), string(ListOpenRouter)}
}

// defaultListFormat is the format that providers of a protocol usually list in.
func defaultListFormat(protocol string) ListFormat {
	switch protocol {
	case "ollama":
		return ListOllama
	case "gemini":
		return ListGemini
	case "anthropic":
		return ListAnthropic
	}
	return ListOpenAI
}

// path is the list's usual place under a base URL.
func (f ListFormat) path() string {
	if f == ListOllama {
		return "/api/tags"
	}
	return "/models"
}

// page returns the address of the page that a cursor names; "" is the first.
func (f ListFormat) page(address, cursor string) (string, error) {
	var size, at string
	switch f {
	case ListGemini:
		size, at = "pageSize", "pageToken"
	case ListAnthropic:
		size, at = "limit", "after_id"
	default:
		return address, nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("the list's URL cannot be parsed")
	}
	q := u.Query()
	q.Set(size, "1000")
	if cursor != "" {
		q.Set(at, cursor)
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// errList is a list that is not in its format. The body is not repeated: it is
// the provider's text.
var errList = errors.New("the answer is not a list of models in the expected format")

// parse reads one page of a list and the cursor of the next; "" ends it. Ids
// are as the provider wrote them.
func (f ListFormat) parse(body []byte) (models []ListedModel, next string, err error) {
	switch f {
	case ListOllama:
		return parseOllamaList(body)
	case ListGemini:
		return parseGeminiList(body)
	}
	var page struct {
		Data    []listedEntry `json:"data"`
		HasMore bool          `json:"has_more"`
		LastID  string        `json:"last_id"`
	}
	if trimmed := strings.TrimSpace(string(body[:min(len(body), 64)])); strings.HasPrefix(trimmed, "[") {
		err = json.Unmarshal(body, &page.Data)
	} else {
		err = json.Unmarshal(body, &page)
	}
	if err != nil || page.Data == nil {
		return nil, "", errList
	}
	for _, e := range page.Data {
		m := ListedModel{ID: e.ID}
		if f == ListOpenRouter {
			m.Price = e.Pricing.perMillion()
		}
		models = append(models, m)
	}
	if f == ListAnthropic && page.HasMore {
		next = page.LastID
	}
	return models, next, nil
}

// A listedEntry is an entry of an OpenAI-like list.
type listedEntry struct {
	ID      string      `json:"id"`
	Pricing tokenPrices `json:"pricing"`
}

// tokenPrices are OpenRouter's: decimal strings, USD per token; "-1" is
// "depends on the route".
type tokenPrices struct {
	Prompt     string `json:"prompt"`
	Completion string `json:"completion"`
}

// UnmarshalJSON leaves the prices unknown where they are of another shape: one
// odd entry must not cost the whole list.
func (t *tokenPrices) UnmarshalJSON(b []byte) error {
	type plain tokenPrices
	if err := json.Unmarshal(b, (*plain)(t)); err != nil {
		*t = tokenPrices{}
	}
	return nil
}

func (t tokenPrices) perMillion() *Price {
	in, errIn := strconv.ParseFloat(t.Prompt, 64)
	out, errOut := strconv.ParseFloat(t.Completion, 64)
	if errIn != nil || errOut != nil {
		return nil
	}
	// Nine digits are enough for any price, and hide the binary tail that
	// 0.0000006 gets from the multiplication.
	round := func(x float64) float64 { return math.Round(x*1e15) / 1e9 }
	return validPrice(round(in), round(out))
}

// validPrice returns the price in USD per million tokens, or nil if it cannot
// be one.
func validPrice(in, out float64) *Price {
	const most = 10_000
	if !(in >= 0 && in <= most && out >= 0 && out <= most) {
		return nil
	}
	return &Price{Input: in, Output: out}
}

func parseOllamaList(body []byte) ([]ListedModel, string, error) {
	var list struct {
		Models []struct {
			Name  string `json:"name"`
			Model string `json:"model"`
		} `json:"models"`
	}
	if err := json.Unmarshal(body, &list); err != nil || list.Models == nil {
		return nil, "", errList
	}
	models := make([]ListedModel, len(list.Models))
	for i, m := range list.Models {
		models[i].ID = m.Model
		if m.Model == "" {
			models[i].ID = m.Name
		}
	}
	return models, "", nil
}

func parseGeminiList(body []byte) ([]ListedModel, string, error) {
	var list struct {
		Models []struct {
			Name    string   `json:"name"`
			Methods []string `json:"supportedGenerationMethods"`
		} `json:"models"`
		Next string `json:"nextPageToken"`
	}
	if err := json.Unmarshal(body, &list); err != nil || list.Models == nil {
		return nil, "", errList
	}
	var models []ListedModel
	for _, m := range list.Models {
		if slices.Contains(m.Methods, "generateContent") {
			models = append(models, ListedModel{ID: strings.TrimPrefix(m.Name, "models/")})
		}
	}
	return models, list.Next, nil
}

// Facts are what models.dev tells of models: by its provider id, then model id.
type Facts map[string]map[string]Fact

// A Fact is what models.dev tells of one model.
type Fact struct {
	Title       string `json:"title,omitempty"`
	Price       *Price `json:"price,omitempty"`        // list price, first tier; nil if not told
	Protocol    string `json:"protocol,omitempty"`     // if the model's differs from its provider's; else ""
	OpenWeights *bool  `json:"open_weights,omitempty"` // nil if not told
	Retired     bool   `json:"retired,omitempty"`      // marked deprecated
}

// ParseModelsDev reads the named providers out of models.dev's api.json. What
// is out of range or of an unexpected type is unknown; a body that is no such
// catalogue is an error.
func ParseModelsDev(body []byte, providers []string) (Facts, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, errors.New("not a catalogue of models.dev")
	}
	facts := Facts{}
	for _, id := range providers {
		var p struct {
			Models map[string]json.RawMessage `json:"models"`
		}
		raw, ok := all[id]
		if !ok || json.Unmarshal(raw, &p) != nil {
			continue
		}
		facts[id] = map[string]Fact{}
		for model, raw := range p.Models {
			if f, ok := parseFact(raw); ok && len(facts[id]) < maxListModels {
				facts[id][model] = f
			}
		}
	}
	return facts, nil
}

func parseFact(raw json.RawMessage) (Fact, bool) {
	var m struct {
		Name        string `json:"name"`
		OpenWeights *bool  `json:"open_weights"`
		Status      string `json:"status"`
		Cost        *struct {
			Input  *float64 `json:"input"`
			Output *float64 `json:"output"`
		} `json:"cost"`
		Provider struct {
			NPM   string `json:"npm"`
			Shape string `json:"shape"`
		} `json:"provider"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return Fact{}, false
	}
	f := Fact{OpenWeights: m.OpenWeights, Retired: m.Status == "deprecated", Protocol: protocolOf(m.Provider.NPM, m.Provider.Shape)}
	if len(m.Name) <= 80 && !strings.ContainsFunc(m.Name, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
		f.Title = m.Name
	}
	if c := m.Cost; c != nil && c.Input != nil && c.Output != nil {
		f.Price = validPrice(*c.Input, *c.Output)
	}
	return f, true
}

// protocolOf maps a model's package override in models.dev to a wire format:
// the npm package is the client library that speaks it.
func protocolOf(npm, shape string) string {
	switch shape {
	case "responses":
		return "openai_responses"
	case "completions":
		return "openai_chat"
	}
	switch npm {
	case "@ai-sdk/openai":
		return "openai_responses"
	case "@ai-sdk/anthropic":
		return "anthropic"
	case "@ai-sdk/google":
		return "gemini"
	case "@ai-sdk/openai-compatible", "@ai-sdk/groq", "@ai-sdk/mistral", "@ai-sdk/cerebras", "@ai-sdk/xai", "@openrouter/ai-sdk-provider":
		return "openai_chat"
	}
	return ""
}
