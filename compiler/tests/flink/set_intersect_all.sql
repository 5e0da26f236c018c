SELECT customer FROM orders INTERSECT ALL SELECT customer FROM payments
