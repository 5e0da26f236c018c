SELECT customer FROM orders EXCEPT ALL SELECT customer FROM payments
