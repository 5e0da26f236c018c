-- mode: batch
SELECT id, LEAD(id) OVER (PARTITION BY customer ORDER BY t) AS after, LEAD(amount, 2) OVER (PARTITION BY customer ORDER BY t) AS after_2 FROM orders
