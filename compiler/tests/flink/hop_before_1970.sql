SELECT window_start AS `start`, COUNT(*) AS n
FROM TABLE(HOP(TABLE early, DESCRIPTOR(t), INTERVAL '5' SECOND, INTERVAL '15' SECOND)) GROUP BY window_start, window_end
