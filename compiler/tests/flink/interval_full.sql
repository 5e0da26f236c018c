SELECT o.id AS order_id, p.id AS payment_id FROM orders o FULL JOIN payments p ON o.customer = p.customer AND p.t BETWEEN o.t - INTERVAL '10' SECOND AND o.t + INTERVAL '10' SECOND
