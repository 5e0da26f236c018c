SELECT who, window_start AS `start`, window_end AS `end`, COUNT(*) AS n, MAX(id) AS last_id
FROM TABLE(SESSION(TABLE clicks PARTITION BY who, DESCRIPTOR(t), INTERVAL '10' SECOND)) GROUP BY who, window_start, window_end
