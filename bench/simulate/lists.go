package simulate

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

// born is when all simulated models claim to have been made.
var born = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// listModels answers for OpenAI and for Anthropic, which share a path:
// Anthropic's clients always send their version.
func (s *Server) listModels(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Anthropic-Version") != "" {
		s.listAnthropic(w, r)
		return
	}
	s.listOpenAI(w, r)
}

func (s *Server) listOpenAI(w http.ResponseWriter, _ *http.Request) {
	type entry struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	list := struct {
		Object string  `json:"object"`
		Data   []entry `json:"data"`
	}{"list", []entry{}}
	for _, m := range s.models {
		list.Data = append(list.Data, entry{m.Name, "model", born.Unix(), "simulated"})
	}
	writeJSON(w, http.StatusOK, list)
}

// page returns the models after the one named, at most as many as asked for.
func (s *Server) page(after, limit string, byDefault int) (models []Model, more bool) {
	models = s.models
	if i := slices.IndexFunc(models, func(m Model) bool { return m.Name == after }); i >= 0 {
		models = models[i+1:]
	}
	n, err := strconv.Atoi(limit)
	if err != nil || n < 1 {
		n = byDefault
	}
	if n >= len(models) {
		return models, false
	}
	return models[:n], true
}

func (s *Server) listAnthropic(w http.ResponseWriter, r *http.Request) {
	type entry struct {
		Type        string    `json:"type"`
		ID          string    `json:"id"`
		DisplayName string    `json:"display_name"`
		CreatedAt   time.Time `json:"created_at"`
	}
	list := struct {
		Data    []entry `json:"data"`
		HasMore bool    `json:"has_more"`
		FirstID *string `json:"first_id"`
		LastID  *string `json:"last_id"`
	}{Data: []entry{}}
	q := r.URL.Query()
	models, more := s.page(q.Get("after_id"), q.Get("limit"), 20)
	for _, m := range models {
		list.Data = append(list.Data, entry{"model", m.Name, "Simulated " + m.Name, born})
	}
	list.HasMore = more
	if n := len(list.Data); n > 0 {
		list.FirstID, list.LastID = &list.Data[0].ID, &list.Data[n-1].ID
	}
	writeJSON(w, http.StatusOK, list)
}

func (s *Server) listGemini(w http.ResponseWriter, r *http.Request) {
	type entry struct {
		Name             string   `json:"name"`
		Version          string   `json:"version"`
		DisplayName      string   `json:"displayName"`
		Description      string   `json:"description"`
		InputTokenLimit  int      `json:"inputTokenLimit"`
		OutputTokenLimit int      `json:"outputTokenLimit"`
		Methods          []string `json:"supportedGenerationMethods"`
	}
	list := struct {
		Models []entry `json:"models"`
		Next   string  `json:"nextPageToken,omitempty"`
	}{Models: []entry{}}
	q := r.URL.Query()
	models, more := s.page(q.Get("pageToken"), q.Get("pageSize"), 50)
	for _, m := range models {
		list.Models = append(list.Models, entry{
			"models/" + m.Name, "simulated", "Simulated " + m.Name, m.About, 32768, 8192,
			[]string{"generateContent", "countTokens"},
		})
	}
	if more {
		list.Next = models[len(models)-1].Name
	}
	writeJSON(w, http.StatusOK, list)
}

func (s *Server) listOllama(w http.ResponseWriter, _ *http.Request) {
	type details struct {
		Format            string   `json:"format"`
		Family            string   `json:"family"`
		Families          []string `json:"families"`
		ParameterSize     string   `json:"parameter_size"`
		QuantizationLevel string   `json:"quantization_level"`
	}
	type entry struct {
		Name       string    `json:"name"`
		Model      string    `json:"model"`
		ModifiedAt time.Time `json:"modified_at"`
		Size       int64     `json:"size"`
		Digest     string    `json:"digest"`
		Details    details   `json:"details"`
	}
	list := struct {
		Models []entry `json:"models"`
	}{[]entry{}}
	for _, m := range s.models {
		list.Models = append(list.Models, entry{
			m.Name, m.Name, born, 0, hexID(m.Name, 64), details{"simulated", "simulated", []string{"simulated"}, "0", "none"},
		})
	}
	writeJSON(w, http.StatusOK, list)
}
