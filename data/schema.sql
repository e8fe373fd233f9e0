-- The schema of every file of the record (catalog, day and half-month files) and of
-- the download. Tables that a file does not need stay empty, and each file
-- opens by itself in any SQLite since 3.37.
--
-- Raw tables keep integers only and nothing that can be derived: they are
-- committed to git again and again. NULL is "did not happen" or "not known".
-- The views at the end give names, plain units and every metric. What each
-- column means is in the table dictionary.
--
-- *_us100 is in tenths of a millisecond, *_ms in milliseconds.

PRAGMA page_size = 8192;
PRAGMA auto_vacuum = NONE;
PRAGMA application_id = 1397178695; -- "SGAG"
PRAGMA user_version = 3;

BEGIN; -- the program commits, after the first rows

CREATE TABLE meta(
  key   TEXT PRIMARY KEY,
  value ANY NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE dictionary(
  relation TEXT NOT NULL,
  name     TEXT NOT NULL,
  unit     TEXT NOT NULL,
  meaning  TEXT NOT NULL,
  source   TEXT NOT NULL,
  PRIMARY KEY(relation, name)) STRICT, WITHOUT ROWID;

-- What may be put into one statistic. The id is part of every row's key. A short
-- series holds the buffering probes of the one beside it; it has no buckets, and
-- only the view buffer_probes shows it.
CREATE TABLE series(
  series_id INTEGER PRIMARY KEY CHECK(series_id BETWEEN 1 AND 4095),
  provider  TEXT NOT NULL,
  model     TEXT NOT NULL,
  vantage   TEXT NOT NULL,
  nonce     INTEGER NOT NULL CHECK(nonce IN (0, 1)),
  short     INTEGER NOT NULL CHECK(short IN (0, 1)),
  UNIQUE(provider, model, vantage, nonce, short)) STRICT;

-- The other conditions of a sample. A handful of rows.
CREATE TABLE envs(
  env_id         INTEGER PRIMARY KEY,
  method_version INTEGER NOT NULL,
  prompt_version INTEGER NOT NULL,
  protocol       TEXT NOT NULL,
  region         TEXT NOT NULL,
  lanes          INTEGER NOT NULL,
  clock          TEXT NOT NULL,
  UNIQUE(method_version, prompt_version, protocol, region, lanes, clock)) STRICT;

-- What responses said of themselves. Ids are this file's own, so that a
-- provider that makes up a new name for each answer fills one day, not all. They
-- count from 1 in each series, so that nearly every sample has the same one,
-- which costs next to nothing in a commit.
CREATE TABLE replies(
  series_id   INTEGER NOT NULL REFERENCES series,
  reply_id    INTEGER NOT NULL,
  http_status INTEGER NOT NULL,
  http_proto  TEXT NOT NULL,
  served_by   TEXT NOT NULL,
  backend     TEXT NOT NULL,
  finish      TEXT NOT NULL,
  PRIMARY KEY(series_id, reply_id)) STRICT, WITHOUT ROWID;

-- Ways to fail. Ids are this file's own.
CREATE TABLE failures(
  failure_id INTEGER PRIMARY KEY,
  kind       TEXT NOT NULL CHECK(kind IN ('auth', 'quota', 'rate_limit', 'server', 'timeout', 'network', 'malformed')),
  detail     TEXT NOT NULL,
  phase      TEXT NOT NULL,
  inner_code INTEGER NOT NULL,
  UNIQUE(kind, detail, phase, inner_code)) STRICT;

-- id = unix_ms << 12 | series_id: deterministic, in order of time, exact in
-- JavaScript until 2039, and no second index is needed.
-- flags: 1 output_tokens are estimated, 2 reasoning exceeded output,
-- 4 visible tokens are not known, 8 the end was a bare end of stream, not a
-- completion, 16 our own machine disturbed the run. The ordinary success has
-- none, and takes no byte for it.
-- An instant is counted from the one before it: first byte, first reasoning,
-- first text. The differences are smaller, and so are their integers.
--
-- What takes room is chosen for the differences that git keeps and sends. A
-- kept_ column is what the virtual column of its name is more than can be told
-- from the others, so nothing is lost: the slot from the minute of the start,
-- the handshakes from the round trip, gaps from the span, words from characters.
-- The constants in them move the usual value to where one byte, or two, holds
-- it, away from 0 and 1, which SQLite keeps in another way: the heads of two
-- ordinary rows are then the same bytes, and git copies them. Three small waits
-- share a column, and have one of their own where they do not fit. What is the
-- same in nearly all rows comes first, what varies in length last.
--
-- A page begins with the offsets of its rows. pad is zeros that make all rows as
-- long, so that the offsets are those of the page before. It stands first, as
-- zeros cost least beside what is the same in all rows.
CREATE TABLE raw_samples(
  id                    INTEGER PRIMARY KEY,
  pad                   BLOB,
  env_id                INTEGER NOT NULL REFERENCES envs,
  failure_id            INTEGER REFERENCES failures,
  flags                 INTEGER NOT NULL,
  kept_late             INTEGER,
  retry_after_s         INTEGER,
  first_tokens          INTEGER,
  visible_tokens        INTEGER,
  stalls                INTEGER NOT NULL,
  stall_us100           INTEGER NOT NULL,
  kept_setup_rest       INTEGER,
  kept_delay_max        INTEGER,
  cached_tokens         INTEGER,
  input_tokens          INTEGER,
  output_tokens         INTEGER,
  reply_id              INTEGER,
  kept_chunks           INTEGER NOT NULL,
  kept_ttfb             INTEGER,
  kept_merged_chunks    INTEGER NOT NULL,
  kept_wait             INTEGER NOT NULL,
  connect_ms            INTEGER,
  kept_tls              INTEGER,
  burstiness_pct        INTEGER,
  first_chars           INTEGER NOT NULL,
  kept_words            INTEGER NOT NULL,
  kept_chars            INTEGER NOT NULL,
  kept_tail             INTEGER,
  kept_icl_p50          INTEGER,
  icl_max_us100         INTEGER,
  kept_icl_p95          INTEGER,
  kept_ttft_rest        INTEGER,
  kept_span             INTEGER,
  kept_ttfr_rest        INTEGER,
  kept_reasoning_chunks INTEGER,
  kept_reasoning_tokens INTEGER,
  series_id        INTEGER AS (id & 4095) VIRTUAL,
  late_s           INTEGER AS (kept_late + ((id >> 12) % 600000 + 500) / 1000) VIRTUAL,
  dns_ms           INTEGER AS (nullif(kept_wait + 128 >> 5, 0) - 1) VIRTUAL,
  tls_ms           INTEGER AS (kept_tls + 64 + coalesce(connect_ms, 0)) VIRTUAL,
  setup_rest_ms    INTEGER AS (coalesce(nullif(kept_wait + 128 >> 2 & 7, 0) - 2, kept_setup_rest)) VIRTUAL,
  ttfb_ms          INTEGER AS (kept_ttfb - 128) VIRTUAL,
  ttfr_rest_ms     INTEGER AS (kept_ttfr_rest + 128) VIRTUAL,
  ttft_rest_ms     INTEGER AS (kept_ttft_rest + 128) VIRTUAL,
  span_us100       INTEGER AS (kept_span + 32768) VIRTUAL,
  tail_us100       INTEGER AS (kept_tail + 128) VIRTUAL,
  reasoning_chunks INTEGER AS (coalesce(kept_reasoning_chunks + 64, 0)) VIRTUAL,
  reasoning_tokens INTEGER AS (kept_reasoning_tokens + reasoning_chunks) VIRTUAL,
  chunks           INTEGER AS (kept_chunks - 100 + coalesce(visible_tokens, output_tokens - coalesce(reasoning_tokens, 0), 0)) VIRTUAL,
  merged_chunks    INTEGER AS (kept_merged_chunks + 64) VIRTUAL,
  chars            INTEGER AS (kept_chars + 64 + coalesce(visible_tokens, output_tokens - coalesce(reasoning_tokens, 0), 0) * 9 / 2) VIRTUAL,
  words            INTEGER AS (kept_words - 64 + chars / 6) VIRTUAL,
  icl_p50_us100    INTEGER AS (kept_icl_p50 - 64 + coalesce(span_us100 / (chunks - 1), 0)) VIRTUAL,
  icl_p95_us100    INTEGER AS (kept_icl_p95 - 64 + coalesce(span_us100 / (chunks - 1), 0) * 2) VIRTUAL,
  delay_max_ms     INTEGER AS (coalesce(nullif(kept_wait + 128 & 3, 0) - 1, kept_delay_max)) VIRTUAL) STRICT;

-- id = unix_hour << 12 | series_id, and unix_day << 12 | series_id. Rates are
-- in hundredths of a token per second. A spread of one value has only its
-- average, one without values has n = 0, and n NULL stands for ok - noisy.
-- Again less is kept than is read: of the hybrid rule what it is more than the
-- decode rate, of the others what they are more than their average, of the 95th
-- percentile what it is more than the maximum.
CREATE TABLE raw_hourly(
  id              INTEGER PRIMARY KEY,
  samples         INTEGER NOT NULL,
  ok              INTEGER NOT NULL,
  noisy           INTEGER NOT NULL,
  errors          TEXT,
  decode_n        INTEGER,
  decode_avg      INTEGER,
  kept_decode_min INTEGER,
  kept_decode_max INTEGER,
  kept_decode_p50 INTEGER,
  kept_decode_p95 INTEGER,
  hybrid_n        INTEGER,
  kept_hybrid_avg INTEGER,
  kept_hybrid_min INTEGER,
  kept_hybrid_max INTEGER,
  kept_hybrid_p50 INTEGER,
  kept_hybrid_p95 INTEGER,
  ttft_n          INTEGER,
  ttft_avg        INTEGER,
  kept_ttft_min   INTEGER,
  kept_ttft_max   INTEGER,
  kept_ttft_p50   INTEGER,
  kept_ttft_p95   INTEGER,
  series_id  INTEGER AS (id & 4095) VIRTUAL,
  decode_min INTEGER AS (kept_decode_min + decode_avg) VIRTUAL,
  decode_max INTEGER AS (kept_decode_max + decode_avg) VIRTUAL,
  decode_p50 INTEGER AS (kept_decode_p50 + decode_avg) VIRTUAL,
  decode_p95 INTEGER AS (kept_decode_p95 + decode_max) VIRTUAL,
  hybrid_avg INTEGER AS (kept_hybrid_avg + coalesce(decode_avg, 0)) VIRTUAL,
  hybrid_min INTEGER AS (kept_hybrid_min + coalesce(decode_min, 0)) VIRTUAL,
  hybrid_max INTEGER AS (kept_hybrid_max + coalesce(decode_max, 0)) VIRTUAL,
  hybrid_p50 INTEGER AS (kept_hybrid_p50 + coalesce(decode_p50, 0)) VIRTUAL,
  hybrid_p95 INTEGER AS (kept_hybrid_p95 + coalesce(decode_p95, 0)) VIRTUAL,
  ttft_min   INTEGER AS (kept_ttft_min + ttft_avg) VIRTUAL,
  ttft_max   INTEGER AS (kept_ttft_max + ttft_avg) VIRTUAL,
  ttft_p50   INTEGER AS (kept_ttft_p50 + ttft_avg) VIRTUAL,
  ttft_p95   INTEGER AS (kept_ttft_p95 + ttft_max) VIRTUAL) STRICT;

CREATE TABLE raw_daily(
  id              INTEGER PRIMARY KEY,
  samples         INTEGER NOT NULL,
  ok              INTEGER NOT NULL,
  noisy           INTEGER NOT NULL,
  errors          TEXT,
  decode_n        INTEGER,
  decode_avg      INTEGER,
  kept_decode_min INTEGER,
  kept_decode_max INTEGER,
  kept_decode_p50 INTEGER,
  kept_decode_p95 INTEGER,
  hybrid_n        INTEGER,
  kept_hybrid_avg INTEGER,
  kept_hybrid_min INTEGER,
  kept_hybrid_max INTEGER,
  kept_hybrid_p50 INTEGER,
  kept_hybrid_p95 INTEGER,
  ttft_n          INTEGER,
  ttft_avg        INTEGER,
  kept_ttft_min   INTEGER,
  kept_ttft_max   INTEGER,
  kept_ttft_p50   INTEGER,
  kept_ttft_p95   INTEGER,
  decode_hist     BLOB,
  ttft_hist       BLOB,
  decode_buckets  TEXT, -- the same histograms as JSON, in the download only
  ttft_buckets    TEXT,
  series_id  INTEGER AS (id & 4095) VIRTUAL,
  decode_min INTEGER AS (kept_decode_min + decode_avg) VIRTUAL,
  decode_max INTEGER AS (kept_decode_max + decode_avg) VIRTUAL,
  decode_p50 INTEGER AS (kept_decode_p50 + decode_avg) VIRTUAL,
  decode_p95 INTEGER AS (kept_decode_p95 + decode_max) VIRTUAL,
  hybrid_avg INTEGER AS (kept_hybrid_avg + coalesce(decode_avg, 0)) VIRTUAL,
  hybrid_min INTEGER AS (kept_hybrid_min + coalesce(decode_min, 0)) VIRTUAL,
  hybrid_max INTEGER AS (kept_hybrid_max + coalesce(decode_max, 0)) VIRTUAL,
  hybrid_p50 INTEGER AS (kept_hybrid_p50 + coalesce(decode_p50, 0)) VIRTUAL,
  hybrid_p95 INTEGER AS (kept_hybrid_p95 + coalesce(decode_p95, 0)) VIRTUAL,
  ttft_min   INTEGER AS (kept_ttft_min + ttft_avg) VIRTUAL,
  ttft_max   INTEGER AS (kept_ttft_max + ttft_avg) VIRTUAL,
  ttft_p50   INTEGER AS (kept_ttft_p50 + ttft_avg) VIRTUAL,
  ttft_p95   INTEGER AS (kept_ttft_p95 + ttft_max) VIRTUAL) STRICT;

-- The limits in this view are those of package bench: 8 chunks and 50 ms a gap
-- for the hybrid rule, 100 ms and 16 tokens for the decode rate, 2 tokens a
-- delivery for "chunky". A test holds the view against the methods of Sample.
CREATE VIEW samples AS
WITH
since_dispatch AS (
  SELECT r.*,
    coalesce(ttfb_ms, 0) + ttfr_rest_ms AS ttfr_ms,
    coalesce(ttfb_ms, 0) + coalesce(ttfr_rest_ms, 0) + ttft_rest_ms AS ttft_ms
  FROM raw_samples r),
counted AS (
  SELECT s.*,
    coalesce(ttft_ms, 0) + coalesce(span_us100, 0) / 10.0 AS last_ms,
    span_us100 / 10.0 AS span_ms,
    tail_us100 / 10.0 AS tail_ms,
    CASE WHEN flags & 4 = 0 THEN coalesce(visible_tokens, output_tokens - coalesce(reasoning_tokens, 0)) END AS visible,
    chunks - merged_chunks AS deliveries
  FROM since_dispatch s),
timed AS (
  SELECT c.*,
    last_ms + tail_ms AS end_ms,
    CASE WHEN flags & 1 = 0 THEN visible END AS n,
    CASE WHEN chunks > 0 AND flags & 1 = 0 THEN coalesce(first_tokens, visible * 1.0 * first_chars / chars) END AS first
  FROM counted c),
judged AS (
  SELECT t.*,
    CASE
      WHEN tail_us100 IS NULL THEN 'incomplete'
      WHEN chunks = 0 THEN 'no_content'
      WHEN n IS NULL OR n <= 0 THEN 'no_token_count'
      WHEN chunks < 2 OR span_us100 < 1000 THEN 'buffered'
      WHEN first > n / 2.0 THEN 'head_burst'
      WHEN n - first < 16 THEN 'too_few_tokens'
    END AS decode_invalid,
    CASE
      WHEN n IS NULL OR n <= 0 OR chunks = 0 THEN 'malformed'
      WHEN chunks >= 8 AND span_us100 > (chunks - 1) * 500 THEN 'inter_token'
      WHEN span_us100 + tail_us100 > 0 THEN 'wall_clock'
      ELSE 'malformed'
    END AS hybrid_path
  FROM timed t)
SELECT
  strftime('%Y-%m-%dT%H:%M:%fZ', (j.id >> 12) / 1000.0, 'unixepoch') AS started_at,
  p.provider, p.model, p.vantage, p.nonce,
  CASE WHEN j.failure_id IS NULL THEN 'ok' ELSE 'failed' END AS outcome,
  f.kind AS error_kind, nullif(f.detail, '') AS error_detail, nullif(f.phase, '') AS failed_in,
  nullif(f.inner_code, 0) AS inner_code, nullif(r.http_status, 0) AS http_status, j.retry_after_s,
  round(j.ttft_ms, 1) AS ttft_ms,
  round(j.ttft_ms + coalesce(j.dns_ms, 0) + coalesce(j.connect_ms, 0) + coalesce(j.tls_ms, 0) + coalesce(j.setup_rest_ms, 0), 1) AS ttft_cold_ms,
  round(j.ttfr_ms, 1) AS ttfr_ms,
  round(min(coalesce(j.ttfr_ms, j.ttft_ms), coalesce(j.ttft_ms, j.ttfr_ms)), 1) AS ttfo_ms,
  round(j.ttft_ms - j.ttfr_ms, 1) AS think_ms,
  CASE WHEN j.ttft_ms IS NOT NULL THEN round(j.last_ms, 1) END AS ttlt_ms,
  round(j.end_ms, 1) AS e2e_ms,
  CASE WHEN j.ttft_ms IS NOT NULL THEN j.tail_ms END AS tail_ms,
  j.span_ms,
  CASE WHEN j.decode_invalid IS NULL THEN round((j.n - j.first) * 1000 / j.span_ms, 3) END AS decode_tps,
  j.decode_invalid,
  CASE j.hybrid_path
    WHEN 'inter_token' THEN round((j.n - 1) * 1000 / j.span_ms, 3)
    WHEN 'wall_clock' THEN round(j.n * 1000 / (j.span_ms + j.tail_ms), 3)
  END AS tps_hybrid,
  j.hybrid_path AS tps_hybrid_path,
  CASE WHEN j.n > 0 AND j.chunks > 0 AND j.span_us100 + j.tail_us100 > 0
    THEN round(j.n * 1000 / (j.span_ms + j.tail_ms), 3) END AS tps_wall,
  CASE WHEN j.n > 0 AND j.chunks > 0 AND j.end_ms > 0 THEN round(j.n * 1000 / j.end_ms, 3) END AS e2e_tps_visible,
  CASE WHEN j.flags & 1 = 0 AND j.output_tokens > 0 AND j.end_ms > 0 THEN round(j.output_tokens * 1000 / j.end_ms, 3) END AS e2e_tps_billed,
  CASE WHEN j.chunks >= 2 AND j.n >= 2 AND j.span_us100 > 0 THEN round(j.span_ms / (j.n - 1), 3) END AS tpot_ms,
  CASE WHEN j.decode_invalid IS NULL AND j.chunks >= 8 AND j.span_us100 > j.stall_us100
    THEN round((j.n - j.first) * 10000.0 / (j.span_us100 - j.stall_us100), 3) END AS decode_tps_stall_free,
  CASE WHEN j.chunks >= 8 THEN j.stall_us100 / 10.0 END AS stall_ms,
  CASE WHEN j.chunks >= 8 THEN j.stalls END AS stall_count,
  CASE WHEN j.chunks >= 8 AND j.span_us100 > 0 THEN round(j.stall_us100 * 1.0 / j.span_us100, 4) END AS stall_ratio,
  j.burstiness_pct / 100.0 AS burstiness,
  CASE WHEN j.chunks >= 2 AND j.span_us100 > 0 THEN round((j.chunks - 1) * 1000 / j.span_ms, 3) END AS chunk_rate_per_s,
  CASE WHEN j.chunks >= 2 THEN round(j.span_ms / (j.chunks - 1), 3) END AS mean_gap_ms,
  j.icl_p50_us100 / 10.0 AS icl_ms_p50, j.icl_p95_us100 / 10.0 AS icl_ms_p95, j.icl_max_us100 / 10.0 AS icl_ms_max,
  CASE WHEN j.chunks >= 2 AND j.span_us100 > 0 THEN round((j.chars - j.first_chars) * 1000 / j.span_ms, 3) END AS chars_per_s,
  CASE WHEN j.chunks >= 2 AND j.span_us100 > 0 AND j.chars > 0
    THEN round((j.chars - j.first_chars) * 1000 / j.span_ms * j.words / j.chars, 3) END AS words_per_s,
  CASE
    WHEN j.chunks = 0 THEN NULL
    WHEN j.chunks < 2 OR j.span_us100 < 1000 OR 2 * j.first_chars > j.chars THEN 'burst'
    WHEN CASE WHEN j.n > 0 THEN j.n ELSE j.chars / 4.0 END >= 2.0 * j.deliveries THEN 'chunky'
    ELSE 'smooth'
  END AS shape,
  j.chunks, j.deliveries, j.reasoning_chunks, j.chars, j.words,
  j.first_chars AS first_read_chars, round(j.first, 3) AS first_chunk_tokens,
  j.input_tokens, j.cached_tokens, j.output_tokens, j.reasoning_tokens, j.visible AS visible_tokens,
  j.flags & 1 <> 0 AS tokens_estimated, j.flags & 2 <> 0 AS tokens_clamped,
  nullif(r.finish, '') AS finish, nullif(r.served_by, '') AS served_by, nullif(r.backend, '') AS backend,
  CASE WHEN j.tail_us100 IS NOT NULL THEN CASE WHEN j.flags & 8 THEN 'end_of_stream' ELSE 'completion' END END AS ended_by,
  j.dns_ms, j.connect_ms, j.tls_ms,
  j.setup_rest_ms + coalesce(j.dns_ms, 0) + coalesce(j.connect_ms, 0) + coalesce(j.tls_ms, 0) AS setup_ms,
  j.ttfb_ms, j.flags & 16 <> 0 AS client_noisy, j.delay_max_ms AS client_delay_max_ms, j.late_s,
  e.method_version, e.prompt_version, e.protocol, nullif(e.region, '') AS region, nullif(e.lanes, 0) AS lanes,
  nullif(e.clock, '') AS clock, nullif(r.http_proto, '') AS http_proto, j.id
FROM judged j
JOIN series p ON p.series_id = j.series_id AND NOT p.short
JOIN envs e ON e.env_id = j.env_id
LEFT JOIN failures f ON f.failure_id = j.failure_id
LEFT JOIN replies r ON r.series_id = j.series_id AND r.reply_id = j.reply_id;

CREATE VIEW buffer_probes AS
SELECT
  strftime('%Y-%m-%dT%H:%M:%fZ', (r.id >> 12) / 1000.0, 'unixepoch') AS started_at,
  p.provider, p.model, p.vantage, p.nonce,
  f.kind AS error_kind, nullif(f.detail, '') AS error_detail,
  coalesce(r.ttfb_ms, 0) + coalesce(r.ttfr_rest_ms, r.ttft_rest_ms) AS ttfo_ms,
  coalesce(r.ttfb_ms, 0) + coalesce(r.ttfr_rest_ms, 0) + r.ttft_rest_ms AS ttft_ms,
  round(CASE WHEN r.ttft_rest_ms IS NULL THEN 0 ELSE coalesce(r.ttfb_ms, 0) + coalesce(r.ttfr_rest_ms, 0) + r.ttft_rest_ms END
    + coalesce(r.span_us100, 0) / 10.0 + r.tail_us100 / 10.0, 1) AS e2e_ms,
  r.output_tokens, r.id
FROM raw_samples r
JOIN series p ON p.series_id = r.series_id AND p.short
LEFT JOIN failures f ON f.failure_id = r.failure_id;

CREATE VIEW hourly AS
SELECT strftime('%Y-%m-%dT%H:00:00Z', (b.id >> 12) * 3600, 'unixepoch') AS hour,
  p.provider, p.model, p.vantage, p.nonce, b.samples, b.ok, round(100.0 * b.ok / b.samples, 2) AS success_percent, b.noisy,
  coalesce(json_extract(b.errors, '$.auth'), 0) AS errors_auth,
  coalesce(json_extract(b.errors, '$.quota'), 0) AS errors_quota,
  coalesce(json_extract(b.errors, '$.rate_limit'), 0) AS errors_rate_limit,
  coalesce(json_extract(b.errors, '$.server'), 0) AS errors_server,
  coalesce(json_extract(b.errors, '$.timeout'), 0) AS errors_timeout,
  coalesce(json_extract(b.errors, '$.network'), 0) AS errors_network,
  coalesce(json_extract(b.errors, '$.malformed'), 0) AS errors_malformed,
  coalesce(b.decode_n, b.ok - b.noisy) AS decode_tps_n, b.decode_avg / 100.0 AS decode_tps_avg,
  coalesce(b.decode_min, b.decode_avg) / 100.0 AS decode_tps_min, coalesce(b.decode_max, b.decode_avg) / 100.0 AS decode_tps_max,
  coalesce(b.decode_p50, b.decode_avg) / 100.0 AS decode_tps_p50, coalesce(b.decode_p95, b.decode_avg) / 100.0 AS decode_tps_p95,
  coalesce(b.hybrid_n, b.ok - b.noisy) AS tps_hybrid_n, b.hybrid_avg / 100.0 AS tps_hybrid_avg,
  coalesce(b.hybrid_min, b.hybrid_avg) / 100.0 AS tps_hybrid_min, coalesce(b.hybrid_max, b.hybrid_avg) / 100.0 AS tps_hybrid_max,
  coalesce(b.hybrid_p50, b.hybrid_avg) / 100.0 AS tps_hybrid_p50, coalesce(b.hybrid_p95, b.hybrid_avg) / 100.0 AS tps_hybrid_p95,
  coalesce(b.ttft_n, b.ok - b.noisy) AS ttft_ms_n, b.ttft_avg AS ttft_ms_avg,
  coalesce(b.ttft_min, b.ttft_avg) AS ttft_ms_min, coalesce(b.ttft_max, b.ttft_avg) AS ttft_ms_max,
  coalesce(b.ttft_p50, b.ttft_avg) AS ttft_ms_p50, coalesce(b.ttft_p95, b.ttft_avg) AS ttft_ms_p95, b.id
FROM raw_hourly b JOIN series p ON p.series_id = b.series_id;

CREATE VIEW daily AS
SELECT date((b.id >> 12) * 86400, 'unixepoch') AS day,
  p.provider, p.model, p.vantage, p.nonce, b.samples, b.ok, round(100.0 * b.ok / b.samples, 2) AS success_percent, b.noisy,
  coalesce(json_extract(b.errors, '$.auth'), 0) AS errors_auth,
  coalesce(json_extract(b.errors, '$.quota'), 0) AS errors_quota,
  coalesce(json_extract(b.errors, '$.rate_limit'), 0) AS errors_rate_limit,
  coalesce(json_extract(b.errors, '$.server'), 0) AS errors_server,
  coalesce(json_extract(b.errors, '$.timeout'), 0) AS errors_timeout,
  coalesce(json_extract(b.errors, '$.network'), 0) AS errors_network,
  coalesce(json_extract(b.errors, '$.malformed'), 0) AS errors_malformed,
  coalesce(b.decode_n, b.ok - b.noisy) AS decode_tps_n, b.decode_avg / 100.0 AS decode_tps_avg,
  coalesce(b.decode_min, b.decode_avg) / 100.0 AS decode_tps_min, coalesce(b.decode_max, b.decode_avg) / 100.0 AS decode_tps_max,
  coalesce(b.decode_p50, b.decode_avg) / 100.0 AS decode_tps_p50, coalesce(b.decode_p95, b.decode_avg) / 100.0 AS decode_tps_p95,
  coalesce(b.hybrid_n, b.ok - b.noisy) AS tps_hybrid_n, b.hybrid_avg / 100.0 AS tps_hybrid_avg,
  coalesce(b.hybrid_min, b.hybrid_avg) / 100.0 AS tps_hybrid_min, coalesce(b.hybrid_max, b.hybrid_avg) / 100.0 AS tps_hybrid_max,
  coalesce(b.hybrid_p50, b.hybrid_avg) / 100.0 AS tps_hybrid_p50, coalesce(b.hybrid_p95, b.hybrid_avg) / 100.0 AS tps_hybrid_p95,
  coalesce(b.ttft_n, b.ok - b.noisy) AS ttft_ms_n, b.ttft_avg AS ttft_ms_avg,
  coalesce(b.ttft_min, b.ttft_avg) AS ttft_ms_min, coalesce(b.ttft_max, b.ttft_avg) AS ttft_ms_max,
  coalesce(b.ttft_p50, b.ttft_avg) AS ttft_ms_p50, coalesce(b.ttft_p95, b.ttft_avg) AS ttft_ms_p95,
  b.decode_buckets AS decode_tps_buckets, b.ttft_buckets AS ttft_ms_buckets, b.id
FROM raw_daily b JOIN series p ON p.series_id = b.series_id;
