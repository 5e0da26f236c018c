SELECT id, a / b AS quotient, a % b AS remainder, MOD(a, b) AS modulo, -a AS negative FROM numbers
