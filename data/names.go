package data

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

const (
	maxSeries = 1<<seriesBits - 1
	maxName   = 200 // bytes in the name of a provider, model, vantage or region
	maxLabel  = 64  // bytes in what a response says of itself
)

// errTooManySeries means that a record is full: a series id has 12 bits.
var errTooManySeries = fmt.Errorf("over %d series in one record", maxSeries)

// An env is a row of envs: the conditions of a sample that are not its series.
type env struct {
	method, prompt   int
	protocol, region string
	lanes            int
	clock            string
}

// A reply is a row of replies. Its key in [names] holds both parts of its id.
type reply struct {
	series                           int64
	status                           int
	proto, servedBy, backend, finish string
}

// A failure is a row of failures.
type failure struct {
	kind, detail, phase string
	inner               int
}

// names are the small tables of a file that give its ids a meaning.
type names struct {
	series   table[bench.Series]
	envs     table[env]
	replies  table[reply]
	failures table[failure]
}

// A table is a small table of distinct rows.
type table[R comparable] struct {
	ids  map[R]int64
	rows map[int64]R
	last int64
}

func (t *table[R]) put(id int64, row R) {
	if t.ids == nil {
		t.ids, t.rows = map[R]int64{}, map[int64]R{}
	}
	t.ids[row], t.rows[id] = id, row
	t.last = max(t.last, id)
}

// readNames reads the small tables of a file.
func readNames(ctx context.Context, q querier, schema string) (names, error) {
	var n names
	read := func(query string, scan func(*sql.Rows) error) error {
		rows, err := q.QueryContext(ctx, query)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := scan(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	}
	var id int64
	err := errors.Join(
		read(`SELECT series_id, provider, model, vantage, nonce, short FROM `+schema+`.series`, func(r *sql.Rows) error {
			var s bench.Series
			err := r.Scan(&id, &s.Provider, &s.Model, &s.Vantage, &s.Nonce, &s.Short)
			n.series.put(id, s)
			return err
		}),
		read(`SELECT env_id, method_version, prompt_version, protocol, region, lanes, clock FROM `+schema+`.envs`, func(r *sql.Rows) error {
			var e env
			err := r.Scan(&id, &e.method, &e.prompt, &e.protocol, &e.region, &e.lanes, &e.clock)
			n.envs.put(id, e)
			return err
		}),
		read(`SELECT reply_id << 12 | series_id, series_id, http_status, http_proto, served_by, backend, finish FROM `+schema+`.replies`, func(r *sql.Rows) error {
			var p reply
			err := r.Scan(&id, &p.series, &p.status, &p.proto, &p.servedBy, &p.backend, &p.finish)
			n.replies.put(id, p)
			return err
		}),
		read(`SELECT failure_id, kind, detail, phase, inner_code FROM `+schema+`.failures`, func(r *sql.Rows) error {
			var f failure
			err := r.Scan(&id, &f.kind, &f.detail, &f.phase, &f.inner)
			n.failures.put(id, f)
			return err
		}),
	)
	if err != nil {
		return names{}, fmt.Errorf("read names: %w", err)
	}
	return n, nil
}

// seriesID returns the id of a series, handed out by the catalog once.
func (t *tx) seriesID(ctx context.Context, s bench.Series) (int64, error) {
	if id, ok := t.names.series.ids[s]; ok {
		return id, nil
	}
	if t.names.series.last >= maxSeries {
		return 0, errTooManySeries
	}
	id := t.names.series.last + 1
	_, err := t.ExecContext(ctx, `INSERT INTO main.series VALUES(?, ?, ?, ?, ?, ?)`, id, s.Provider, s.Model, s.Vantage, s.Nonce, s.Short)
	if err != nil {
		return 0, fmt.Errorf("name series %s: %w", s.Pair, err)
	}
	t.names.series.put(id, s)
	return id, nil
}

// envID returns the id of conditions, handed out by the catalog once.
func (t *tx) envID(ctx context.Context, e env) (int64, error) {
	if id, ok := t.names.envs.ids[e]; ok {
		return id, nil
	}
	id := t.names.envs.last + 1
	_, err := t.ExecContext(ctx, `INSERT INTO main.envs VALUES(?, ?, ?, ?, ?, ?, ?)`,
		id, e.method, e.prompt, e.protocol, e.region, e.lanes, e.clock)
	if err != nil {
		return 0, fmt.Errorf("name conditions: %w", err)
	}
	t.names.envs.put(id, e)
	return id, nil
}

// replyKey is the key of a reply in [names].
func replyKey(series, id int64) int64 { return id<<seriesBits | series }

// replyID returns the id of a reply in a day file whose names are n; NULL for
// the reply that says nothing.
func (t *tx) replyID(ctx context.Context, schema string, n *names, r reply) (sql.NullInt64, error) {
	if r == (reply{series: r.series}) {
		return sql.NullInt64{}, nil
	}
	key, ok := n.replies.ids[r]
	if !ok {
		key = replyKey(r.series, 1)
		for n.replies.rows[key] != (reply{}) {
			key += 1 << seriesBits
		}
		_, err := t.ExecContext(ctx, `INSERT INTO `+schema+`.replies VALUES(?, ?, ?, ?, ?, ?, ?)`,
			r.series, key>>seriesBits, r.status, r.proto, r.servedBy, r.backend, r.finish)
		if err != nil {
			return sql.NullInt64{}, fmt.Errorf("name reply: %w", err)
		}
		n.replies.put(key, r)
	}
	return known(key >> seriesBits), nil
}

// failureID returns the id of a failure in a day file whose names are n; NULL
// for success.
func (t *tx) failureID(ctx context.Context, schema string, n *names, f failure) (sql.NullInt64, error) {
	if f.kind == "" {
		return sql.NullInt64{}, nil
	}
	id, ok := n.failures.ids[f]
	if !ok {
		id = n.failures.last + 1
		_, err := t.ExecContext(ctx, `INSERT INTO `+schema+`.failures VALUES(?, ?, ?, ?, ?)`, id, f.kind, f.detail, f.phase, f.inner)
		if err != nil {
			return sql.NullInt64{}, fmt.Errorf("name failure: %w", err)
		}
		n.failures.put(id, f)
	}
	return known(id), nil
}

func envOf(s *bench.Sample) env {
	e := s.Env
	return env{e.Method, e.Prompt, e.Protocol, e.Region, e.Lanes, e.Clock}
}

func replyOf(s *bench.Sample, series int64) reply {
	return reply{series, s.HTTPStatus, label(s.Proto), label(s.ServedBy), label(s.Backend), label(s.Finish)}
}

func failureOf(s *bench.Sample) failure {
	if s.OK() {
		return failure{}
	}
	return failure{s.Kind.String(), label(string(s.Detail)), label(string(s.FailedIn)), s.InnerCode}
}

// apply puts the meaning of a row's ids into a sample.
func (n *names) apply(s *bench.Sample, r *row) error {
	series, okSeries := n.series.rows[r.series()]
	e, okEnv := n.envs.rows[r.env]
	if !okSeries || !okEnv {
		return fmt.Errorf("sample %d: its series or conditions have no name", r.id)
	}
	s.Pair = series.Pair
	s.Env = bench.Env{
		Method: e.method, Prompt: e.prompt, Protocol: e.protocol, Vantage: series.Vantage, Region: e.region,
		Nonce: series.Nonce, Short: series.Short, Lanes: e.lanes, Clock: e.clock,
	}
	if r.reply.Valid {
		p, ok := n.replies.rows[replyKey(r.series(), r.reply.Int64)]
		if !ok {
			return fmt.Errorf("sample %d: its reply has no name", r.id)
		}
		s.HTTPStatus, s.Proto, s.ServedBy, s.Backend, s.Finish = p.status, p.proto, p.servedBy, p.backend, p.finish
	}
	if r.failure.Valid {
		f, ok := n.failures.rows[r.failure.Int64]
		kind, okKind := kindByName(f.kind)
		if !ok || !okKind {
			return fmt.Errorf("sample %d: its failure has no name", r.id)
		}
		s.Kind, s.Detail, s.FailedIn, s.InnerCode = kind, wire.Detail(f.detail), bench.Phase(f.phase), f.inner
	}
	return nil
}

// kindByName is the inverse of [wire.ErrorKind.String] for the seven kinds.
func kindByName(name string) (wire.ErrorKind, bool) {
	for k := wire.KindAuth; k <= wire.KindMalformed; k++ {
		if k.String() == name {
			return k, true
		}
	}
	return wire.KindNone, false
}

// label bounds a text that a provider chose: valid UTF-8 without control
// characters, at most maxLabel bytes, cut between characters.
func label(text string) string {
	clean := make([]rune, 0, maxLabel)
	size := 0
	for _, r := range text { // invalid bytes come as U+FFFD
		if unicode.IsControl(r) {
			continue
		}
		if size += utf8.RuneLen(r); size > maxLabel {
			break
		}
		clean = append(clean, r)
	}
	return string(clean)
}

// validName reports whether a name of ours may stand in the dataset.
func validName(name string) bool {
	if len(name) > maxName || !utf8.ValidString(name) {
		return false
	}
	for _, r := range name {
		if unicode.IsControl(r) {
			return false
		}
	}
	return true
}
