package bench

// A ListFormat names how a provider lists its models.
type ListFormat string

// The formats of model lists.
const (
	ListOpenAI     ListFormat = "openai"     // GET /models: data[].id
	ListOllama     ListFormat = "ollama"     // GET /api/tags: models[].name
	ListGemini     ListFormat = "gemini"     // GET /models, paged by pageToken: models[].name
	ListAnthropic  ListFormat = "anthropic"  // GET /models, paged by after_id: data[].id
	ListOpenRouter ListFormat = "openrouter" // as openai, with prices per token
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
