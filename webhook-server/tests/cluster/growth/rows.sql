-- Webhooks of the bucket $bucket that were delivered, as many of each of forty days, and their
-- counts: the rows $from to $to, with bodies of $bytes bytes and 36.

CREATE TABLE filled AS SELECT key(ms, '7001' || substr(md5(n::text), 1, 16)) AS webhook,
    key(ms, '7002' || substr(md5(n::text), 1, 16)) AS delivery, ms
  FROM generate_series($from, $to) n,
    LATERAL (SELECT millis(day(-40 + n % 40)) + 3600000
      + (n / 40 * 82799000::bigint) / ($to / 40 + 1) AS ms) at;
INSERT INTO webhook (id, account_id, bucket_id, input_id, method, extra_path, raw_query, headers,
    secure, ephemeral, received_at, body)
  SELECT f.webhook, i.account_id, i.parent_id, i.id, 'POST', '', '', '', false, false, ms,
    convert_to(repeat('x', $bytes) || f.webhook, 'UTF8')
  FROM filled f, document i WHERE i.kind = 'input' AND i.parent_id = '$bucket';
INSERT INTO delivery (id, webhook_id, account_id, bucket_id, output_id, internal, ephemeral, status,
    attempts, created_at, updated_at, status_code, duration_ns)
  SELECT f.delivery, f.webhook, o.account_id, o.parent_id, o.id, false, false, 1, 1, ms, ms, 200, 1000000
  FROM filled f, document o WHERE o.kind = 'output' AND o.parent_id = '$bucket';
INSERT INTO tally (span, account_id, bucket_id, moment, output_id, status, status_code, retries,
    logs, micros)
  SELECT span, o.account_id, o.parent_id, ms - ms % part, o.id, 1, 200, 0, COUNT(*), COUNT(*) * 1000
  FROM filled, document o,
    (VALUES (0, 9000000000000000), (1, 86400000), (2, 60000)) AS spans (span, part)
  WHERE o.kind = 'output' AND o.parent_id = '$bucket' GROUP BY 1, 2, 3, 4, 5
  ON CONFLICT (span, account_id, bucket_id, moment, output_id, status, status_code, retries)
    DO UPDATE SET logs = tally.logs + excluded.logs, micros = tally.micros + excluded.micros;
DROP TABLE filled; ANALYZE webhook; ANALYZE delivery;
