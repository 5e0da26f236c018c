SELECT id, x / y AS quotient FROM numbers
