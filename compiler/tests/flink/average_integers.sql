SELECT k, AVG(v) AS mean FROM events GROUP BY k
