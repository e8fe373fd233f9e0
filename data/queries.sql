-- What is in this file?
-- Its raw samples by provider and vantage point. A model is one series, or two: with and without a nonce.
SELECT provider, vantage, count(DISTINCT model) AS models, count(*) AS samples, min(date(started_at)) AS first_day, max(date(started_at)) AS last_day
FROM samples GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 20;

-- Which models decode fastest?
-- The median of the daily medians over the newest 30 days. It is not the ranking: it has no interval, and does not say which differences are chance.
WITH days AS (
  SELECT provider, model, vantage, decode_tps_p50 AS tps,
    row_number() OVER (PARTITION BY provider, model, vantage ORDER BY decode_tps_p50) AS i,
    count(*) OVER (PARTITION BY provider, model, vantage) AS n
  FROM daily
  WHERE NOT nonce AND decode_tps_p50 IS NOT NULL AND day > date((SELECT max(day) FROM daily), '-30 days'))
SELECT provider, model, vantage, n AS days, round(avg(tps), 1) AS decode_tps
FROM days WHERE i IN ((n + 1) / 2, (n + 2) / 2)
GROUP BY 1, 2, 3 ORDER BY 5 DESC, 1, 2, 3 LIMIT 10;

-- Who answers sooner than a week ago?
-- Time to first token: the mean of the daily medians of the newest seven days against the seven before.
WITH weeks AS (
  SELECT provider, model, vantage,
    avg(ttft_ms_p50) FILTER (WHERE day > date(newest, '-7 days')) AS now_ms,
    avg(ttft_ms_p50) FILTER (WHERE day <= date(newest, '-7 days')) AS before_ms
  FROM daily, (SELECT max(day) AS newest FROM daily)
  WHERE NOT nonce AND day > date(newest, '-14 days') GROUP BY 1, 2, 3)
SELECT provider, model, vantage, round(before_ms) AS before_ms, round(now_ms) AS now_ms, round(100 * (now_ms / before_ms - 1), 1) AS percent
FROM weeks WHERE percent IS NOT NULL ORDER BY percent, 1, 2, 3 LIMIT 10;

-- Why is there no rate?
-- A rate that no formula could get right is NULL, with the reason beside it.
SELECT coalesce(decode_invalid, 'has a rate') AS reason, count(*) AS samples,
  round(100.0 * count(*) / sum(count(*)) OVER (), 1) AS percent
FROM samples WHERE outcome = 'ok' GROUP BY 1 ORDER BY 2 DESC, 1;

-- How do runs fail, and where?
-- The kind of the error, and the phase the run was in.
SELECT error_kind, failed_in, error_detail, count(*) AS samples
FROM samples WHERE outcome = 'failed' GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT 10;

-- Is it slower at some hours of the day?
-- Mean decode rate by hour, UTC, over all series and every hourly summary.
SELECT substr(hour, 12, 2) AS utc, sum(decode_tps_n) AS samples,
  round(sum(decode_tps_n * decode_tps_avg) / sum(decode_tps_n), 1) AS decode_tps_avg
FROM hourly GROUP BY 1 ORDER BY 1;

-- How far apart are the published hybrid rule and the decode rate?
-- By the formula that the hybrid rule took: with few or quick chunks it counts the wait for the end as streaming.
SELECT tps_hybrid_path, count(*) AS samples, round(100 * avg(tps_hybrid / decode_tps - 1), 1) AS percent_apart
FROM samples WHERE outcome = 'ok' AND decode_tps IS NOT NULL GROUP BY 1 ORDER BY 1;

-- Which part of a cold start is ours to wait for?
-- Every run opens a fresh connection; a warm client is spared all but the first token.
SELECT provider, vantage, round(avg(dns_ms), 1) AS dns_ms, round(avg(connect_ms), 1) AS connect_ms, round(avg(tls_ms), 1) AS tls_ms,
  round(avg(ttft_ms), 1) AS ttft_ms, round(avg(ttft_cold_ms), 1) AS cold_ms
FROM samples WHERE outcome = 'ok' GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 10;

-- Which streams stall?
-- A stall is a gap above half a second and above five times the median gap of its answer.
SELECT provider, model, count(*) AS answers, round(100 * avg(stall_count > 0), 1) AS percent_stalled,
  round(max(icl_ms_max)) AS longest_gap_ms, round(avg(burstiness), 2) AS burstiness
FROM samples WHERE outcome = 'ok' AND stall_count IS NOT NULL GROUP BY 1, 2 ORDER BY 4 DESC, 1, 2 LIMIT 10;

-- What did the slowest starts look like?
-- The ten samples with the longest time to first token.
SELECT started_at, provider, model, ttft_ms, ttfb_ms, decode_tps, shape, http_status
FROM samples WHERE ttft_ms IS NOT NULL ORDER BY ttft_ms DESC, id LIMIT 10;

-- What is the median over all days, from the daily histograms?
-- Percentiles must not be averaged; the buckets of the days add up. The one that holds the middle rank gives the median, exact to 1 %. Bucket i stands for 2·1.02ⁱ/2.02: not every SQLite has powers, so they are multiplied up.
WITH RECURSIVE
  merged AS (
    SELECT provider, model, vantage, json_extract(b.value, '$[0]') AS bucket, sum(json_extract(b.value, '$[1]')) AS n
    FROM daily, json_each(decode_tps_buckets) AS b WHERE NOT nonce GROUP BY 1, 2, 3, 4),
  ranked AS (
    SELECT *, sum(n) OVER (PARTITION BY provider, model, vantage ORDER BY bucket) AS upto,
      sum(n) OVER (PARTITION BY provider, model, vantage) AS samples
    FROM merged),
  middle AS (
    SELECT provider, model, vantage, samples, min(bucket) AS bucket
    FROM ranked WHERE upto > (samples - 1) / 2 GROUP BY 1, 2, 3),
  scale(bucket, tps) AS (VALUES(0, 2 / 2.02) UNION ALL SELECT bucket + 1, tps * 1.02 FROM scale WHERE bucket < 600)
SELECT provider, model, vantage, samples, round(tps, 1) AS decode_tps_p50
FROM middle LEFT JOIN scale USING (bucket) ORDER BY tps DESC, 1, 2, 3 LIMIT 10;

-- How much did our own machine disturb?
-- Disturbed runs count for success and enter no spread. The delay is from the kernel's stamp of a read to ours.
SELECT vantage, clock, count(*) AS samples, round(100 * avg(client_noisy), 1) AS percent_noisy, round(max(client_delay_max_ms), 1) AS delay_max_ms
FROM samples GROUP BY 1, 2 ORDER BY 1, 2;

-- What does a column mean?
-- Every column of every table and view is explained inside the file.
SELECT name, unit, meaning, source FROM dictionary WHERE relation = 'samples' AND name LIKE '%tps%' ORDER BY name;
