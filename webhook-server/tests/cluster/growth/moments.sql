-- A day by its distance from today, its first millisecond, and a key of a millisecond.
CREATE FUNCTION day(n int) RETURNS timestamp LANGUAGE sql STABLE AS
  $$ SELECT date_trunc('day', now() AT TIME ZONE 'UTC') + n * interval '1 day' $$;
CREATE FUNCTION millis(at timestamp) RETURNS bigint LANGUAGE sql STABLE AS
  $$ SELECT CAST(EXTRACT(EPOCH FROM at) * 1000 AS bigint) $$;
CREATE FUNCTION key(ms bigint, rest text) RETURNS uuid LANGUAGE sql STABLE AS
  $$ SELECT CAST(rpad(lpad(to_hex(ms), 12, '0') || rest, 32, '0') AS uuid) $$;
