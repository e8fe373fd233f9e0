package site

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// A question is a query with the least file that can answer it.
type question struct {
	sql   string // empty: there is nothing to ask
	whole bool   // it needs samples that only the whole file has
}

// liteDays is for how many days back every file of the dataset has raw samples.
const liteDays = 7

// link returns the address at which a question stands in the editor, "" if it
// can stand in none.
func (e *edition) link(root string, q question) string {
	if q.sql == "" {
		return ""
	}
	link := queryLink(root, q.sql)
	if n := len(e.in.Databases); link != "" && q.whole && n > 1 {
		before, after, _ := strings.Cut(link, "?")
		link = before + "?file=" + e.in.Databases[n-1].Name + "&" + after
	}
	return link
}

// seriesQuery asks for what a pair's page is made of: its runs over a window of
// up to 7 days, which the lite file holds too, and its days over a longer one.
func (e *edition) seriesQuery(p *endpoint, w rollup.Window) string {
	if s := spanOf(p, w); !s.short() {
		return "SELECT day, samples, ok, success_percent, decode_tps_n, decode_tps_p50, ttft_ms_n, ttft_ms_p50, tps_hybrid_p50\n" + fromDays(p, s) + " ORDER BY day DESC"
	}
	return "SELECT started_at, outcome, error_kind, decode_tps, decode_invalid, ttft_ms, ttlt_ms, tps_hybrid, client_noisy\n" + fromRuns(p, spanOf(p, w)) + " ORDER BY id DESC"
}

// boardQuery asks for the daily medians a board's scores are made of.
func (e *edition) boardQuery(w rollup.Window) string { return e.someQuery(w, "") }

// modelQuery asks for those of one model at all providers.
func (e *edition) modelQuery(w rollup.Window, model string) string {
	return e.someQuery(w, " AND model = "+literal(model))
}

// providerQuery asks for those of one provider.
func (e *edition) providerQuery(w rollup.Window, provider string) string {
	return e.someQuery(w, " AND provider = "+literal(provider))
}

// providerRuns asks how many runs a provider had.
func (e *edition) providerRuns(w rollup.Window, provider string) string {
	span := w.Span(e.now)
	return fmt.Sprintf("SELECT model, vantage, nonce, count(*) AS runs\nFROM samples WHERE provider = %s AND started_at >= '%s' AND started_at < '%s'\nGROUP BY 1, 2, 3",
		literal(provider), span.From.Format(time.DateOnly), span.To.Format(time.DateOnly))
}

func (e *edition) someQuery(w rollup.Window, condition string) string {
	span := w.Span(e.now)
	return fmt.Sprintf("SELECT day, provider, model, vantage, nonce, samples, ok, decode_tps_n, decode_tps_p50, ttft_ms_n, ttft_ms_p50, tps_hybrid_p50\nFROM daily WHERE day >= '%s' AND day < '%s'%s\nORDER BY day DESC, provider, model",
		span.From.UTC().Format(time.DateOnly), dayAfter(span.To), condition)
}

// dayAfter is the first day that does not begin before at.
func dayAfter(at time.Time) string {
	return at.UTC().Add(rollup.Day - 1).Truncate(rollup.Day).Format(time.DateOnly)
}

// daysQuery asks for the days that a score is made of. The daily table has them
// for the metrics it keeps, unless some runs of the window were measured under
// another method or prompt, which scores leave out.
func (e *edition) daysQuery(p *endpoint, w rollup.Window, m rollup.Metric) question {
	s := spanOf(p, w)
	mixed := p.summary[w].Mixed
	if kept(m) && len(mixed.Methods) < 2 && len(mixed.Prompts) < 2 {
		return question{sql: fmt.Sprintf("SELECT day, %[1]s_n AS runs, %[1]s_p50 AS median\n%[2]s AND %[1]s_n >= %[3]d ORDER BY day", m, fromDays(p, s), stats.MinDayRuns)}
	}
	newest := ""
	for _, v := range []struct {
		column string
		list   []int
	}{{"method_version", mixed.Methods}, {"prompt_version", mixed.Prompts}} {
		if n := len(v.list); n > 1 {
			newest += fmt.Sprintf(" AND %s = %d", v.column, v.list[n-1])
		}
	}
	x := sqlColumn(m)
	return question{whole: !s.short(), sql: fmt.Sprintf(`SELECT day, n AS runs, avg(x) AS median FROM (
  SELECT date(started_at) AS day, %s AS x, count(*) OVER (PARTITION BY date(started_at)) AS n,
    row_number() OVER (PARTITION BY date(started_at) ORDER BY %[1]s) AS i
  %s AND %s%s)
WHERE i IN ((n + 1) / 2, (n + 2) / 2) AND n >= %d GROUP BY day ORDER BY day`, x, fromRuns(p, s), counted(m), newest, stats.MinDayRuns)}
}

// kept reports whether the daily table has a metric.
func kept(m rollup.Metric) bool {
	return m == rollup.DecodeTPS || m == rollup.HybridTPS || m == rollup.TTFT
}

// sqlColumn is a metric in terms of the columns of samples.
func sqlColumn(m rollup.Metric) string {
	if n := m.Tokens(); n > 0 {
		return fmt.Sprintf("ttft_ms / 1000 + %d / decode_tps", n-1)
	}
	return string(m)
}

// counted is the condition that a run enters statistics of a metric.
func counted(m rollup.Metric) string {
	return "outcome = 'ok' AND client_noisy = 0 AND " + sqlColumn(m) + " IS NOT NULL"
}

// runsQuery asks for the runs that percentiles are made of, in order; where they
// are made of histograms, for the buckets and how many runs are up to each.
func (e *edition) runsQuery(p *endpoint, w rollup.Window, m rollup.Metric, fromHistogram bool) question {
	s := spanOf(p, w)
	if !fromHistogram {
		return question{whole: !s.short(), sql: fmt.Sprintf("SELECT started_at, %s AS %s\n%s\n  AND %s ORDER BY 2", sqlColumn(m), m, fromRuns(p, s), counted(m))}
	}
	if m != rollup.DecodeTPS && m != rollup.TTFT {
		return question{sql: fmt.Sprintf("SELECT day, %s_n AS runs, %[1]s_p50 AS median\n%s ORDER BY day", rollup.HybridTPS, fromDays(p, s))}
	}
	return question{sql: fmt.Sprintf(`-- Bucket i stands for 2·1.02ⁱ/2.02.
WITH merged AS (
  SELECT json_extract(b.value, '$[0]') AS bucket, sum(json_extract(b.value, '$[1]')) AS runs
  FROM (SELECT * %s), json_each(%s_buckets) AS b GROUP BY 1)
SELECT bucket, runs, sum(runs) OVER (ORDER BY bucket) AS upto FROM merged ORDER BY bucket`, fromDays(p, s), m)}
}

// successQuery asks for the success rate.
func (e *edition) successQuery(p *endpoint, w rollup.Window) question {
	if s := spanOf(p, w); !s.short() {
		return question{sql: "SELECT 100.0 * sum(ok) / sum(samples) AS percent, sum(samples) AS runs\n" + fromDays(p, s)}
	}
	return question{sql: "SELECT 100.0 * sum(outcome = 'ok') / count(*) AS percent, count(*) AS runs\n" + fromRuns(p, spanOf(p, w))}
}

// throttleQuery asks for the throttle rate.
func (e *edition) throttleQuery(p *endpoint, w rollup.Window) question {
	if s := spanOf(p, w); !s.short() {
		return question{sql: "SELECT 100.0 * sum(errors_rate_limit) / sum(samples - errors_auth - errors_quota) AS percent,\n  sum(samples - errors_auth - errors_quota) AS runs\n" + fromDays(p, s)}
	}
	return question{sql: "SELECT 100.0 * sum(error_kind IS 'rate_limit') / count(*) AS percent, count(*) AS runs\n" + fromRuns(p, spanOf(p, w)) + "\n  AND coalesce(error_kind, '') NOT IN ('auth', 'quota')"}
}

// availabilityQuery asks for the availability: of runs weighed by the time they
// stand for or, where days are all that is left, the mean of the days'.
func (e *edition) availabilityQuery(p *endpoint, w rollup.Window) question {
	s := spanOf(p, w)
	if p.summary[w].Bucketed {
		return question{sql: "SELECT 100 * avg(1.0 * ok / (samples - errors_auth - errors_quota - errors_rate_limit)) AS percent,\n  sum(samples - errors_auth - errors_quota - errors_rate_limit) AS runs\n" +
			fromDays(p, s) + " AND samples > errors_auth + errors_quota + errors_rate_limit"}
	}
	limit := stats.MaxGap(p.track.Every).Seconds()
	return question{whole: !s.short(), sql: fmt.Sprintf(`WITH
  runs AS (SELECT julianday(started_at) * 86400 AS at, outcome = 'ok' AS ok
    %s AND coalesce(error_kind, '') NOT IN ('auth', 'quota', 'rate_limit')),
  weighed AS (SELECT ok, coalesce(min(at - lag(at) OVER (ORDER BY at), %v), 0) + coalesce(min(lead(at) OVER (ORDER BY at) - at, %[2]v), 0) AS seconds
    FROM runs)
SELECT 100 * sum(ok * seconds) / sum(seconds) AS percent, count(*) AS runs FROM weighed`, fromRuns(p, s), limit)}
}

// outcomesQuery asks how runs ended.
func (e *edition) outcomesQuery(p *endpoint, w rollup.Window) question {
	if s := spanOf(p, w); !s.short() {
		return question{sql: "SELECT sum(samples) AS runs, sum(ok) AS ok, sum(errors_auth) AS auth, sum(errors_quota) AS quota, sum(errors_rate_limit) AS rate_limit,\n" +
			"  sum(errors_server) AS server, sum(errors_timeout) AS timeout, sum(errors_network) AS network, sum(errors_malformed) AS malformed\n" + fromDays(p, s)}
	}
	return question{sql: "SELECT outcome, error_kind, count(*) AS runs\n" + fromRuns(p, spanOf(p, w)) + " GROUP BY 1, 2 ORDER BY 3 DESC"}
}

// failuresQuery asks what the failures were.
func (e *edition) failuresQuery(p *endpoint, w rollup.Window) question {
	s := spanOf(p, w)
	return question{whole: !s.short(), sql: "SELECT error_kind, error_detail, failed_in, count(*) AS runs\n" + fromRuns(p, s) + " AND outcome = 'failed' GROUP BY 1, 2, 3 ORDER BY 4 DESC"}
}

// anatomyQuery asks how the runs of all endpoints ended, day by day.
func (e *edition) anatomyQuery(w rollup.Window) string {
	span := w.Span(e.now)
	return fmt.Sprintf("SELECT day, sum(samples) AS runs, sum(errors_server) AS server, sum(errors_timeout) AS timeout, sum(errors_network) AS network, sum(errors_malformed) AS malformed,\n"+
		"  sum(errors_rate_limit) AS rate_limit, sum(errors_auth) AS auth, sum(errors_quota) AS quota\nFROM daily WHERE day >= '%s' AND day < '%s' GROUP BY day ORDER BY day DESC",
		span.From.UTC().Format(time.DateOnly), dayAfter(span.To))
}

// allFailuresQuery asks what the failures of all endpoints were.
func (e *edition) allFailuresQuery(w rollup.Window) question {
	span := w.Span(e.now)
	return question{whole: true, sql: fmt.Sprintf("SELECT error_kind, error_detail, failed_in, count(*) AS runs\nFROM samples WHERE started_at >= '%s' AND started_at < '%s' AND outcome = 'failed'\nGROUP BY 1, 2, 3 ORDER BY 4 DESC",
		span.From.UTC().Format(time.DateOnly), dayAfter(span.To))}
}

// deliveryQuery asks how answers arrived.
func (e *edition) deliveryQuery(p *endpoint, w rollup.Window) question {
	s := spanOf(p, w)
	return question{whole: !s.short(), sql: "SELECT shape, tps_hybrid_path, stall_count > 0 AS stalled, reasoning_chunks > 0 AS reasoned, count(*) AS answers\n" +
		fromRuns(p, s) + " AND outcome = 'ok' GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC"}
}

// columnQuery asks for a column of samples that is no metric of ours, in order.
func (e *edition) columnQuery(p *endpoint, w rollup.Window, column string) question {
	s := spanOf(p, w)
	return question{whole: !s.short(), sql: fmt.Sprintf("SELECT started_at, %s\n%s\n  AND outcome = 'ok' AND client_noisy = 0 AND %[1]s IS NOT NULL ORDER BY 2", column, fromRuns(p, s))}
}

// ageQuery asks for the newest success.
func (e *edition) ageQuery(p *endpoint) question {
	return question{sql: "SELECT started_at FROM samples " + whereSeries(p, "") + "\n  AND outcome = 'ok' ORDER BY id DESC LIMIT 1"}
}

// dutyQuery asks when an endpoint's runs came and what stamped them.
func (e *edition) dutyQuery(p *endpoint) string {
	return "SELECT started_at, late_s, clock, client_noisy FROM samples " + whereSeries(p, "") + "\n  AND " + e.onDuty() + " ORDER BY id DESC"
}

// dutiesQuery counts the same for all endpoints.
func (e *edition) dutiesQuery() string {
	return "SELECT provider, model, vantage, nonce, max(started_at) AS newest, count(*) AS runs, count(late_s) AS for_a_slot, max(late_s) AS latest_s,\n" +
		"  100.0 * sum(clock IS 'kernel') / count(clock) AS kernel_percent, 100.0 * avg(client_noisy) AS noisy_percent\nFROM samples WHERE " + e.onDuty() + " GROUP BY 1, 2, 3, 4"
}

// latenessQuery counts runs by how late they came.
func (e *edition) latenessQuery() string {
	return "SELECT late_s, count(*) AS runs FROM samples WHERE " + e.onDuty() + " AND late_s IS NOT NULL GROUP BY 1 ORDER BY 1"
}

// onDuty is the condition that a run is of the days that the status looks at.
func (e *edition) onDuty() string {
	const upTo = "2006-01-02T15:04:05.999"
	return fmt.Sprintf("started_at >= '%s' AND started_at < '%s'", e.now.Add(-statusSpan).UTC().Format(upTo), e.now.UTC().Format(upTo))
}

// newestQuery asks for the newest success, all that is kept of it.
func (e *edition) newestQuery(p *endpoint) question {
	return question{sql: "SELECT * FROM samples " + whereSeries(p, "") + "\n  AND outcome = 'ok' ORDER BY id DESC LIMIT 1"}
}

// hoursQuery asks for the hours that an hour of the week is made of.
func (e *edition) hoursQuery(p *endpoint) question {
	to := e.now.UTC().Truncate(rollup.Day)
	return question{sql: fmt.Sprintf("SELECT strftime('%%w', hour) AS weekday, substr(hour, 12, 2) AS utc, hour, decode_tps_n AS runs, decode_tps_p50 AS median\nFROM hourly %s\n  AND hour >= '%s' AND hour < '%s' AND decode_tps_n > 0 ORDER BY 1, 2, 3",
		whereSeries(p, ""), to.AddDate(0, 0, -rollup.HourOfWeekDays).Format(time.DateOnly), to.Format(time.DateOnly))}
}

// pairedQuery asks for the days on which two series can be compared.
func (e *edition) pairedQuery(a, b *endpoint, m rollup.Metric, w rollup.Window) string {
	return e.pairedOf(strings.Join(seriesTerms(a, "a."), " AND "), strings.Join(seriesTerms(b, "b."), " AND "), m, w)
}

// pairedOf is [edition.pairedQuery] of the series that meet two conditions, on
// the columns of a and of b.
func (e *edition) pairedOf(a, b string, m rollup.Metric, w rollup.Window) string {
	span := w.Span(e.now)
	return fmt.Sprintf("SELECT day, a.%[1]s_p50 AS a, b.%[1]s_p50 AS b\nFROM daily a JOIN daily b USING (day) WHERE %[2]s\n  AND %[3]s\n  AND day >= '%[4]s' AND day < '%[5]s' AND a.%[1]s_n >= %[6]d AND b.%[1]s_n >= %[6]d ORDER BY day",
		m, a, b, span.From.Format(time.DateOnly), dayAfter(span.To), stats.MinDayRuns)
}

// mediansQuery asks for the daily medians of several series.
func (e *edition) mediansQuery(list []*endpoint, m rollup.Metric, span rollup.Span) string {
	var series []string
	for _, p := range list {
		series = append(series, "("+strings.TrimPrefix(whereSeries(p, ""), "WHERE ")+")")
	}
	return fmt.Sprintf("SELECT day, provider, model, %s_n AS runs, %[1]s_p50 AS median\nFROM daily WHERE day >= '%[2]s' AND day < '%[3]s' AND %[1]s_n >= %[4]d\n  AND (%[5]s)\nORDER BY day DESC, provider, model",
		m, span.From.Format(time.DateOnly), dayAfter(span.To), stats.MinDayRuns, strings.Join(series, "\n    OR "))
}

// A sqlSpan is the time that the runs of a window were taken in.
type sqlSpan rollup.Span

func spanOf(p *endpoint, w rollup.Window) sqlSpan { return sqlSpan(p.summary[w].Span) }

// short reports whether every file of the dataset has the raw samples of it.
func (s sqlSpan) short() bool { return s.To.Sub(s.From) <= liteDays*rollup.Day }

// fromRuns is the part of a query that names the runs of a series in a span.
// Instants are compared as text: one without a fraction sorts before all
// fractions of its second, as long as no Z ends it.
func fromRuns(p *endpoint, s sqlSpan) string {
	const upTo = "2006-01-02T15:04:05.999"
	return fmt.Sprintf("FROM samples %s\n  AND started_at >= '%s' AND started_at < '%s'", whereSeries(p, ""), s.From.UTC().Format(upTo), s.To.UTC().Format(upTo))
}

// fromDays is the part of a query that names the days of a series in a span.
func fromDays(p *endpoint, s sqlSpan) string {
	return fmt.Sprintf("FROM daily %s\n  AND day >= '%s' AND day < '%s'", whereSeries(p, ""), s.From.UTC().Format(time.DateOnly), dayAfter(s.To))
}

// whereSeries is the condition that names a series, in the columns of table,
// which ends in a dot or is empty.
func whereSeries(p *endpoint, table string) string {
	return "WHERE " + strings.Join(seriesTerms(p, table), " AND ")
}

// seriesTerms are the parts of that condition, each of which begins with its column.
func seriesTerms(p *endpoint, table string) []string {
	nonce := 0
	if p.series.Nonce {
		nonce = 1
	}
	return []string{
		table + "provider = " + literal(p.series.Provider), table + "model = " + literal(p.series.Model),
		table + "vantage = " + literal(p.series.Vantage), table + "nonce = " + strconv.Itoa(nonce),
	}
}
