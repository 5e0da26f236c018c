SELECT k, COUNT(*) AS n, COUNT(v) AS n_v, SUM(v) AS total, MIN(v) AS low, MAX(v) AS high FROM events GROUP BY k
