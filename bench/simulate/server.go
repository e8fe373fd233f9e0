package simulate

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Options is how a Server behaves. The zero Options serves [Models] at their
// own speed.
type Options struct {
	Models []Model // what is served; nil is Models()
	Seed   uint64  // of all that is random: the nth request to a model always gets the same answer

	// Speed divides every duration of every shape: 10 is ten times as fast. 0 is 1.
	Speed float64

	// Precise makes writes hit their instants within microseconds on an idle
	// machine, at the price of a tenth of a millisecond of CPU time for each (on
	// Linux; elsewhere up to one and a half).
	Precise bool

	// Log is called with the record of each request, before the client can have
	// seen the end of the answer. It may be called from several goroutines at once.
	Log func(Record)
}

// A Server is a simulated provider. It serves
//
//	POST /v1/chat/completions, /openai/v1/chat/completions   OpenAI Chat Completions
//	POST /openai/deployments/{deployment}/chat/completions   the same, Azure's classic path
//	POST /v1/responses, /openai/v1/responses                 OpenAI Responses
//	POST /v1/messages                                        Anthropic Messages
//	POST /v1beta/models/{model}:streamGenerateContent        Gemini, with alt=sse
//	POST /api/chat                                           Ollama
//	GET  /v1/models, /openai/v1/models, /v1beta/models, /api/tags
//	GET  /__log/{id}, /__log/latest                          a [Record] as JSON
//
// Any key is accepted, or none: a model whose fault is FaultAuth is the one that
// refuses it. A request stops costing anything once its context ends, which is
// when its client has left; whoever closes the listener while a model hangs must
// end the context too ([http.Server].BaseContext). A
// Server is safe for concurrent use; it writes any number of answers at once,
// though the cadence of each is exact only while the machine has a core for it.
type Server struct {
	models  []Model
	seed    uint64
	speed   float64
	precise bool
	logTo   func(Record)
	clock   clock
	made    time.Time

	mux      http.ServeMux
	requests atomic.Int64
	journal  journal

	mu     sync.Mutex
	byName map[string]*served
}

type served struct {
	model Model
	n     int // requests so far
}

// New returns a Server. It fails if two models share a name or a shape is not
// one a server can act on.
func New(o Options) (*Server, error) {
	s := &Server{
		models: o.Models, seed: o.Seed, speed: o.Speed, precise: o.Precise, logTo: o.Log,
		clock: newClock(), made: time.Now(), byName: make(map[string]*served),
	}
	if s.models == nil {
		s.models = Models()
	}
	if s.speed == 0 {
		s.speed = 1
	}
	if !(s.speed > 0) {
		return nil, fmt.Errorf("simulate: speed %v is not positive", o.Speed)
	}
	for _, m := range s.models {
		if err := m.Shape.Validate(); err != nil {
			return nil, fmt.Errorf("simulate: model %q: %w", m.Name, err)
		}
		if _, ok := s.byName[m.Name]; ok || m.Name == "" {
			return nil, fmt.Errorf("simulate: model name %q is empty or taken", m.Name)
		}
		s.byName[m.Name] = &served{model: m}
	}

	openai := format{parseChat, func(c *call) encoder { return &chat{call: c} }, refuseChat}
	azure := format{parseChat, func(c *call) encoder { return &chat{call: c, azure: true} }, refuseAzure}
	resp := format{parseResponses, func(c *call) encoder { return &responses{call: c} }, refuseChat}
	claude := format{parseAnthropic, func(c *call) encoder { return &anthropic{call: c} }, refuseAnthropic}
	google := format{parseGemini, func(c *call) encoder { return &gemini{call: c} }, refuseGemini}
	llama := format{parseOllama, func(c *call) encoder { return &ollama{call: c} }, refuseOllama}
	s.mux.Handle("POST /v1/chat/completions", s.answer(openai))
	s.mux.Handle("POST /openai/v1/chat/completions", s.answer(azure))
	s.mux.Handle("POST /openai/deployments/{deployment}/chat/completions", s.answer(azure))
	s.mux.Handle("POST /v1/responses", s.answer(resp))
	s.mux.Handle("POST /openai/v1/responses", s.answer(resp))
	s.mux.Handle("POST /v1/messages", s.answer(claude))
	s.mux.Handle("POST /v1beta/models/{call}", s.answer(google))
	s.mux.Handle("POST /api/chat", s.answer(llama))
	s.mux.HandleFunc("GET /v1/models", s.listModels)
	s.mux.HandleFunc("GET /openai/v1/models", s.listOpenAI)
	s.mux.HandleFunc("GET /v1beta/models", s.listGemini)
	s.mux.HandleFunc("GET /api/tags", s.listOllama)
	s.mux.HandleFunc("GET /__log/{id}", s.serveLog)
	return s, nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// take returns the model with that name and the ordinal of this request to it.
func (s *Server) take(name string) (Model, int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.byName[name]
	if !ok {
		return Model{}, 0, false
	}
	n := m.n
	m.n++
	return m.model, n, true
}

// identify names a request. The name is unique to it and the same in each run.
func (s *Server) identify(h http.Header) {
	h.Set("X-Request-Id", fmt.Sprintf("sim-%06d", s.requests.Add(1)))
	h.Set("Server", "streamgauge-simulate")
}

func (s *Server) file(r Record) {
	s.journal.add(r)
	if s.logTo != nil {
		s.logTo(r)
	}
}

func (s *Server) serveLog(w http.ResponseWriter, r *http.Request) {
	rec, ok := s.journal.get(r.PathValue("id"))
	if !ok {
		writeJSON(w, http.StatusNotFound, map[string]string{"error": "no such request, or it is not over"})
		return
	}
	writeJSON(w, http.StatusOK, rec)
}

// hash is FNV-1a over its arguments, each ended by a zero byte.
func hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return h.Sum64()
}
