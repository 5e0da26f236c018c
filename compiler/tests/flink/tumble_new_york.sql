-- zone: America/New_York
SELECT CAST(window_start AS STRING) AS `start`, COUNT(*) AS n, MIN(id) AS first_id, MAX(id) AS last_id
FROM TABLE(TUMBLE(TABLE visits, DESCRIPTOR(t), INTERVAL '1' DAY)) GROUP BY window_start, window_end
