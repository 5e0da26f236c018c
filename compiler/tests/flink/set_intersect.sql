SELECT customer FROM orders INTERSECT SELECT customer FROM payments
