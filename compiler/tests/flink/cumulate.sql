SELECT k, window_start AS `start`, window_end AS `end`, COUNT(*) AS n, MAX(v) AS high
FROM TABLE(CUMULATE(TABLE events, DESCRIPTOR(t), INTERVAL '10' SECOND, INTERVAL '30' SECOND)) GROUP BY k, window_start, window_end
