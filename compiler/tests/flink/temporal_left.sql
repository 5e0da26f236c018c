CREATE TEMPORARY VIEW versions AS SELECT currency, rate, t FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY currency ORDER BY t DESC) AS n FROM rates) WHERE n = 1;
SELECT o.id, v.rate, o.amount * v.rate AS value_ FROM trades o LEFT JOIN versions FOR SYSTEM_TIME AS OF o.t v ON o.currency = v.currency
