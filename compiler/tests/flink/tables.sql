-- Rows out of order, late rows, equal times, nulls, NaN and both zeros.
CREATE TABLE events (
  id BIGINT, k STRING, v BIGINT, f DOUBLE, d DECIMAL(10, 2), t TIMESTAMP(3), WATERMARK FOR t AS t - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${INPUTS}/events.jsonl', 'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601');

-- Before 1970 and over it.
CREATE TABLE early (
  id BIGINT, v BIGINT, t TIMESTAMP(3), WATERMARK FOR t AS t - INTERVAL '0.001' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${INPUTS}/early.jsonl', 'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601');

-- Sessions that touch, that a later row connects, and that a late row misses.
CREATE TABLE clicks (
  id BIGINT, who STRING, t TIMESTAMP(3), WATERMARK FOR t AS t - INTERVAL '20' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${INPUTS}/clicks.jsonl', 'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601');

-- Days with 23 and 25 hours in New York.
CREATE TABLE visits (
  id BIGINT, t TIMESTAMP_LTZ(3), WATERMARK FOR t AS t - INTERVAL '1' HOUR
) WITH ('connector' = 'filesystem', 'path' = '${INPUTS}/visits.jsonl', 'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601');

-- What people ordered and what they paid: keys that are null, that repeat, that find nothing.
CREATE TABLE orders (
  id BIGINT, customer STRING, amount BIGINT, t TIMESTAMP(3), WATERMARK FOR t AS t - INTERVAL '0.001' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${INPUTS}/orders.jsonl', 'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601');
CREATE TABLE payments (
  id BIGINT, customer STRING, paid BIGINT, t TIMESTAMP(3), WATERMARK FOR t AS t - INTERVAL '0.001' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${INPUTS}/payments.jsonl', 'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601');

-- The rates of currencies as they change.
CREATE TABLE rates (
  currency STRING, rate BIGINT, t TIMESTAMP(3), WATERMARK FOR t AS t - INTERVAL '0.001' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${INPUTS}/rates.jsonl', 'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601');
CREATE TABLE trades (
  id BIGINT, currency STRING, amount BIGINT, t TIMESTAMP(3), WATERMARK FOR t AS t - INTERVAL '0.001' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${INPUTS}/trades.jsonl', 'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601');

-- The states of accounts: a later row replaces an earlier one, `gone` deletes.
CREATE TABLE accounts (
  id BIGINT, branch STRING, owner STRING, balance BIGINT, gone BOOLEAN, t TIMESTAMP(3), WATERMARK FOR t AS t - INTERVAL '0.001' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${INPUTS}/accounts.jsonl', 'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601');

-- Numbers that divide badly.
CREATE TABLE numbers (
  id BIGINT, a BIGINT, b BIGINT, x DECIMAL(10, 2), y DECIMAL(6, 3)
) WITH ('connector' = 'filesystem', 'path' = '${INPUTS}/numbers.jsonl', 'format' = 'json');
