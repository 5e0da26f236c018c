SELECT k, window_start AS `start`, COUNT(*) AS n, SUM(v) AS total, COUNT(DISTINCT v) AS kinds
FROM TABLE(HOP(TABLE events, DESCRIPTOR(t), INTERVAL '5' SECOND, INTERVAL '20' SECOND)) GROUP BY k, window_start, window_end
