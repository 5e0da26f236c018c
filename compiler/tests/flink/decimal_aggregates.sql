SELECT k, SUM(d) AS total, AVG(d) AS mean, MIN(d) AS low FROM events GROUP BY k
