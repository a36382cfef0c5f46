"""psycopg 3: extended protocol, server-side parameters, binary format, pipelines."""
import os
import threading
from datetime import datetime, timedelta
from decimal import Decimal

import psycopg
from psycopg import errors
from psycopg.types import TypeInfo
from psycopg.types.composite import CompositeInfo, register_composite
from psycopg.types.hstore import register_hstore

conn = psycopg.connect(os.environ["SQL_URL"], autocommit=True)
assert conn.info.server_version >= 150000
info = TypeInfo.fetch(conn, "hstore")
assert info is not None and info.array_oid, info
register_hstore(info, conn)

conn.execute("select mbus4.create_queue('with_psycopg3', 64)")
value = {"k": "v ü \"'\\", "null": None}
iid = conn.execute("select mbus4.post('with_psycopg3', %s, properties => %s)", (value, {"STATE": "DONE"})).fetchone()[0]

# a rollback returns a message, a block commits
try:
    with conn.transaction():
        got = conn.execute("select iid, data, properties, added from mbus4.consume('with_psycopg3')").fetchone()
        assert got[:3] == (iid, value, {"STATE": "DONE"}) and isinstance(got[3], datetime), got
        raise psycopg.Rollback()
except psycopg.Rollback:
    pass
with conn.transaction():
    assert conn.execute("select count(*) from mbus4.consume(%s)", ("with_psycopg3",)).fetchone() == (1,)
assert conn.execute("select * from mbus4.consume('with_psycopg3')").fetchall() == []

# the record as a composite
register_composite(CompositeInfo.fetch(conn, "mbus4.qt_model"), conn)
conn.execute("select mbus4.post('with_psycopg3', 'a=>1')")
record = conn.execute("select mbus4.consume('with_psycopg3')").fetchone()[0]
assert record.data == {"a": "1"} and record.iid.startswith("with_psycopg3."), record

# binary parameters and results
for binary in False, True:
    cur = conn.cursor(binary=binary)
    row = cur.execute("select %t::int, %b::bigint, %b::float8, %t::numeric, %b::text, %b::bool, %b::int[], %b::text[], %b::timestamp, %b::interval",
                      (1, 1 << 40, 0.1, Decimal("1.50"), "ü", True, [1, None, 3], ["a", "b,c"], datetime(2024, 2, 29, 12, 0, 0, 500000),
                       timedelta(days=1, hours=2))).fetchone()
    assert row == (1, 1 << 40, 0.1, Decimal("1.50"), "ü", True, [1, None, 3], ["a", "b,c"], datetime(2024, 2, 29, 12, 0, 0, 500000),
                   timedelta(days=1, hours=2)), row

# prepared statements
for i in range(10):
    conn.execute("select mbus4.post('with_psycopg3', hstore('n', %s::text))", (str(i),), prepare=True)
assert conn.execute("select count(*) from pg_prepared_statements").fetchone()[0] >= 1
cur = conn.execute("select data->'n' from mbus4.consumen_with_psycopg3_by_default(%s)", (100,), binary=True)
assert cur.fetchall() == [(str(i),) for i in range(10)]

# many in one round trip
with conn.pipeline(), conn.cursor() as cur:
    cur.executemany("select mbus4.post('with_psycopg3', hstore('n', %s::text))", [(str(i),) for i in range(50)], returning=True)
assert conn.execute("select count(*) from mbus4.consumen_with_psycopg3_by_default(100)").fetchone() == (50,)

# a server-side cursor, and streamed rows
with conn.transaction(), conn.cursor("pieces") as named:
    named.itersize = 7
    named.execute("select i from generate_series(1, 30) i where i > %s", (3,))
    assert [r[0] for r in named] == list(range(4, 31))
assert [r[0] for r in conn.cursor().stream("select i from generate_series(1, 10) i")] == list(range(1, 11))

# errors
for statement, error in {
    "select mbus4.post('no_such_queue', 'a=>1')": errors.RaiseException,
    "select 1/0": errors.DivisionByZero,
    "select * from no_such_table": errors.UndefinedTable,
    "select no_such_function()": errors.UndefinedFunction,
    "selec 1": errors.SyntaxError,
    "select 'x'::int": errors.InvalidTextRepresentation,
}.items():
    try:
        conn.execute(statement)
        raise SystemExit("no error: " + statement)
    except error:
        pass
with conn.transaction():
    try:
        with conn.transaction():
            conn.execute("select 1/0")
    except errors.DivisionByZero:
        pass
    assert conn.execute("select 1").fetchone() == (1,)

# cancel
timer = threading.Timer(0.3, conn.cancel_safe)
timer.start()
try:
    conn.execute("select pg_sleep(60)")
    raise SystemExit("not canceled")
except errors.QueryCanceled:
    timer.join()
try:  # PostgreSQL signals a backend twice; the second signal may cancel what comes next
    conn.execute("select pg_sleep(0.1)")
except errors.QueryCanceled:
    pass
conn.execute("select mbus4.drop_queue('with_psycopg3')")

# COPY in all formats, with text and with adapted rows
conn.execute("select mbus4.create_queue('with_psycopg3_copy', 64)")
conn.execute("select mbus4.create_view('with_psycopg3_copy')")
with conn.cursor() as cur:
    with cur.copy("copy with_psycopg3_copy_q from stdin") as copy:
        for i in range(100):
            copy.write_row(({"n": str(i), "text": "tab\t nl\n ü \\"},))
    assert cur.rowcount == 100, cur.rowcount
    with cur.copy("copy with_psycopg3_copy_q (data) from stdin (format binary)") as copy:
        copy.set_types(["hstore"])
        copy.write_row(({"n": "100", "text": None},))
    with cur.copy("copy with_psycopg3_copy_q from stdin (format csv, header)") as copy:
        copy.write('data\n"n=>101')
        copy.write(',text=>x"\n')
    for wrong, state in ("copy with_psycopg3_copy_q from stdin", errors.InternalError), ("copy with_psycopg3_copy_q (nope) from stdin", errors.UndefinedColumn):
        try:
            with cur.copy(wrong) as copy:
                copy.write("n=>1\nn=>\n")
            raise AssertionError(wrong)
        except state as e:
            if state is errors.InternalError:
                assert e.diag.context.startswith("COPY with_psycopg3_copy_q, line 2, column data: \"n=>\""), e.diag.context
    try:
        with cur.copy("copy with_psycopg3_copy_q from stdin") as copy:
            copy.write("n=>1\n")
            raise RuntimeError("enough")
    except RuntimeError:
        pass
    with cur.copy("copy (select data->'n', data->'text' from mbus4.consumen_with_psycopg3_copy_by_default(1000)) to stdout") as copy:
        rows = list(copy.rows())
    assert len(rows) == 102 and rows[7] == ("7", "tab\t nl\n ü \\") and rows[100:] == [("100", None), ("101", "x")], rows[95:]
    with cur.copy("copy (select 1, 'x', null::int) to stdout (format binary)") as copy:
        copy.set_types(["int4", "text", "int4"])
        assert list(copy.rows()) == [(1, "x", None)]
conn.execute("select mbus4.drop_queue('with_psycopg3_copy')")
conn.close()

# passwords
if os.environ.get("APP_URL"):
    psycopg.connect(os.environ["APP_URL"]).close()
    try:
        psycopg.connect(os.environ["APP_URL"], password="wrong")
        raise SystemExit("a wrong password is welcome")
    except psycopg.OperationalError as e:
        assert 'password authentication failed for user "app"' in str(e), e
