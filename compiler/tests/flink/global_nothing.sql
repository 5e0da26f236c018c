SELECT COUNT(*) AS n, COUNT(v) AS n_v, SUM(v) AS total, MAX(v) AS high FROM events WHERE id > 1000
