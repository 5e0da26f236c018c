#!/usr/bin/env python3
"""Run the queries of this folder on a real Apache Flink, and write what stands in the end beside each query.

  python3 -m venv flink && flink/bin/pip install apache-flink==2.3.0     # needs Java 11 to 21
  flink/bin/python record.py [NAME ..]

A query is NAME.sql; the tables are in tables.sql. Results go to NAME.jsonl: one object a row, sorted. Changes are folded.
Lines `-- key: a,b` (the query gives upserts with this key), `-- zone: America/New_York` (the time zone of the session)
and `-- mode: batch` at the top say how a query is run. Decimals are text, times are text in UTC, NaN is text.
"""
import datetime, decimal, json, math, pathlib, re, sys

from pyflink.common import Configuration, Row, RowKind
from pyflink.table import EnvironmentSettings, TableEnvironment

HERE = pathlib.Path(__file__).resolve().parent


def plain(value):
    if isinstance(value, datetime.datetime):
        return value.isoformat(timespec="milliseconds")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Row):
        return [plain(v) for v in value]
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "to_epoch_milli"):
        millis = datetime.timedelta(milliseconds=value.to_epoch_milli())
        return (datetime.datetime(1970, 1, 1) + millis).isoformat(timespec="milliseconds")
    return value


def environment(head):
    config = Configuration()
    config.set_string("parallelism.default", "1")
    zone = re.search(r"(?m)^-- zone: (\S+)", head)
    config.set_string("table.local-time-zone", zone[1] if zone else "UTC")
    builder = EnvironmentSettings.new_instance().with_configuration(config)
    batch = re.search(r"(?m)^-- mode: batch", head)
    env = TableEnvironment.create((builder.in_batch_mode() if batch else builder.in_streaming_mode()).build())
    tables = (HERE / "tables.sql").read_text().replace("${INPUTS}", f"file://{HERE}/inputs")
    for statement in statements(tables):
        env.execute_sql(statement)
    return env


def statements(text):
    text = re.sub(r"(?m)^\s*--.*$", "", text)
    return [s.strip() for s in re.split(r";\s*(?:\n|$)", text) if s.strip()]


def record(path):
    text = path.read_text()
    env = environment(text)
    *before, query = statements(text)
    for statement in before:
        env.execute_sql(statement)
    key = re.search(r"(?m)^-- key: (\S+)", text)
    key = key[1].split(",") if key else None
    result = env.execute_sql(query)
    names = result.get_table_schema().get_field_names()
    standing = {}
    with result.collect() as rows:
        for row in rows:
            kind = row.get_row_kind()
            record = {n: plain(v) for n, v in zip(names, row)}
            line = json.dumps(record, ensure_ascii=False)
            at = json.dumps([record[k] for k in key]) if key else line
            if key:
                if kind in (RowKind.INSERT, RowKind.UPDATE_AFTER):
                    standing[at] = [line]
                elif kind == RowKind.DELETE:
                    standing.pop(at, None)
            elif kind in (RowKind.INSERT, RowKind.UPDATE_AFTER):
                standing.setdefault(at, []).append(line)
            else:
                standing[at].pop()
    lines = sorted(line for lines in standing.values() for line in lines)
    path.with_suffix(".jsonl").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    print(f"{path.stem}: {len(lines)} rows", flush=True)


def main():
    wanted = sys.argv[1:]
    for path in sorted(HERE.glob("*.sql")):
        if path.stem != "tables" and (not wanted or path.stem in wanted):
            try:
                record(path)
            except Exception as error:
                print(f"{path.stem}: FAILED: {str(error)[:1500]}", flush=True)


main()
