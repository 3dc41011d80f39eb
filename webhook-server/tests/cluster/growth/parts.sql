-- The parts of a log that was divided by day long ago, the first of which has gone.

DO $$ DECLARE t text; BEGIN
  FOR d IN -40..0 LOOP
    FOREACH t IN ARRAY ARRAY['webhook', 'delivery'] LOOP
      IF d = -40 THEN
        EXECUTE format('ALTER TABLE %1$s DETACH PARTITION %1$s_before', t);
        EXECUTE format('DROP TABLE %s_before', t);
      END IF;
      EXECUTE format('CREATE TABLE %1$s_d%2$s PARTITION OF %1$s FOR VALUES FROM (%3$L) TO (%4$L)',
        t, to_char(day(d), 'YYYYMMDD'), key(millis(day(d)), ''), key(millis(day(d + 1)), ''));
    END LOOP;
  END LOOP;
END $$;
