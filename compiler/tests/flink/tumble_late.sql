SELECT k, window_start AS `start`, COUNT(*) AS n, COUNT(v) AS n_v, SUM(v) AS total, MIN(v) AS low, MAX(v) AS high
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(t), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end
