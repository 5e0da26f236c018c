SELECT o.id FROM orders o WHERE EXISTS (SELECT 1 FROM payments p WHERE p.customer = o.customer)
