package site

import (
	"fmt"
	"time"

	"github.com/streamgauge/streamgauge/rollup"
)

// seriesQuery asks for what a pair's page is made of: its runs over a window of
// up to 7 days, which the lite file holds too, and its days over a longer one.
func (e *edition) seriesQuery(p *endpoint, w rollup.Window) string {
	what, order := "started_at, outcome, error_kind, decode_tps, decode_invalid, ttft_ms, ttlt_ms, tps_hybrid, client_noisy", "id"
	if w.Days() > 7 {
		what, order = "day, samples, ok, success_percent, decode_tps_n, decode_tps_p50, ttft_ms_n, ttft_ms_p50, tps_hybrid_p50", "day"
	}
	return "SELECT " + what + "\n" + e.fromSeries(p, w) + " ORDER BY " + order + " DESC"
}

// boardQuery asks for the daily medians a board's scores are made of.
func (e *edition) boardQuery(w rollup.Window) string {
	return fmt.Sprintf("SELECT day, provider, model, vantage, nonce, samples, ok, decode_tps_n, decode_tps_p50, ttft_ms_n, ttft_ms_p50, tps_hybrid_p50\nFROM daily WHERE day >= '%s'\nORDER BY day DESC, provider, model",
		w.Span(e.now).From.UTC().Format(time.DateOnly))
}
