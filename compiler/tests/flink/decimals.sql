SELECT id, x + y AS added, x - y AS taken, x * y AS multiplied, CAST(x AS DECIMAL(10, 1)) AS one_digit, CAST(y AS DECIMAL(6, 2)) AS two_digits, ROUND(x, 1) AS rounded FROM numbers WHERE id <> 6
