SELECT window_start AS `start`, COUNT(*) AS n, SUM(v) AS total
FROM TABLE(TUMBLE(TABLE early, DESCRIPTOR(t), INTERVAL '10' SECOND)) GROUP BY window_start, window_end
