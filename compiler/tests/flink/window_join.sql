SELECT o.id AS order_id, p.id AS payment_id, COALESCE(o.window_start, p.window_start) AS `start`
FROM (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(t), INTERVAL '20' SECOND))) o
FULL JOIN (SELECT * FROM TABLE(TUMBLE(TABLE payments, DESCRIPTOR(t), INTERVAL '20' SECOND))) p
ON o.customer = p.customer AND o.window_start = p.window_start AND o.window_end = p.window_end
