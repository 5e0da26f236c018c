SELECT customer FROM orders EXCEPT SELECT customer FROM payments
