SELECT customer FROM orders UNION SELECT customer FROM payments
