SELECT o.id AS order_id, p.id AS payment_id, o.amount, p.paid FROM orders o INNER JOIN payments p ON o.customer = p.customer
