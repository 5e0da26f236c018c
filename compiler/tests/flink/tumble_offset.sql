SELECT window_start AS `start`, window_end AS `end`, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(t), INTERVAL '10' SECOND, INTERVAL '3' SECOND)) GROUP BY window_start, window_end
