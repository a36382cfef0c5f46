"""psycopg 2: text protocol only; the client inserts parameters into the statement."""
import io
import os
import threading

import psycopg2
import psycopg2.errors
import psycopg2.extras
from psycopg2.extensions import TRANSACTION_STATUS_IDLE, TRANSACTION_STATUS_INERROR, TRANSACTION_STATUS_INTRANS

conn = psycopg2.connect(os.environ["SQL_URL"])
assert conn.server_version >= 150000, conn.server_version
assert conn.encoding == "UTF8" and conn.get_parameter_status("standard_conforming_strings") == "on"
psycopg2.extras.register_hstore(conn)
cur = conn.cursor()

cur.execute("select mbus4.create_queue('with_psycopg2', 64)")
conn.commit()
assert conn.get_transaction_status() == TRANSACTION_STATUS_IDLE

# post and consume, hstore as dict
cur.execute("select mbus4.post('with_psycopg2', %s, properties => %s)", ({"k": "v ü \"'\\", "null": None}, {"STATE": "DONE"}))
(iid,) = cur.fetchone()
assert iid.startswith("with_psycopg2."), iid
conn.commit()
cur.execute("select iid, data, properties, headers->'destination', added, received from mbus4.consume('with_psycopg2')")
got = cur.fetchone()
assert got[:4] == (iid, {"k": "v ü \"'\\", "null": None}, {"STATE": "DONE"}, "with_psycopg2"), got
assert got[4].year >= 2024 and got[5] is not None, got
assert [c.name for c in cur.description] == ["iid", "data", "properties", "?column?", "added", "received"]

# a rollback returns it, a commit does not
conn.rollback()
cur.execute("select count(*) from mbus4.consume('with_psycopg2')")
assert cur.fetchone() == (1,) and conn.get_transaction_status() == TRANSACTION_STATUS_INTRANS
conn.commit()
cur.execute("select * from mbus4.consume('with_psycopg2')")
assert cur.fetchall() == []
conn.commit()

# values of many types
cur.execute("select %s::int, %s::bigint, %s::float8, %s::numeric, %s::text, %s::bool, %s::int[], %s::text[], %s::timestamp, %s::interval",
            (1, 1 << 40, 0.1, "1.50", "ü%", True, [1, None, 3], ["a", "b,c", None], "2024-02-29 12:00:00.5", "1 day 02:00:00"))
row = cur.fetchone()
assert row[:8] == (1, 1 << 40, 0.1, __import__("decimal").Decimal("1.50"), "ü%", True, [1, None, 3], ["a", "b,c", None]), row
assert row[8].microsecond == 500000 and row[9].days == 1 and row[9].seconds == 7200, row

# a named cursor, in pieces
with conn.cursor("pieces") as named:
    named.itersize = 7
    named.execute("select i, i::text from generate_series(1, 30) i")
    assert [r[0] for r in named] == list(range(1, 31))
with conn.cursor("posts") as named:
    cur.execute("select mbus4.post('with_psycopg2', hstore('n', i::text)) from generate_series(1, 10) i")
    named.execute("select data from mbus4.consumen_with_psycopg2_by_default(10)")
    assert [r[0]["n"] for r in named.fetchmany(4)] == ["1", "2", "3", "4"]
conn.rollback()

# errors: SQLSTATE, a failed transaction, a savepoint
try:
    cur.execute("select mbus4.post('no_such_queue', 'a=>1')")
    raise SystemExit("posting to no queue was no error")
except psycopg2.Error as e:
    assert e.pgcode == "P0001" and "no_such_queue" in e.diag.message_primary, (e.pgcode, e)
assert conn.get_transaction_status() == TRANSACTION_STATUS_INERROR
try:
    cur.execute("select 1")
    raise SystemExit("the transaction is not failed")
except psycopg2.errors.InFailedSqlTransaction:
    conn.rollback()
cur.execute("savepoint s")
try:
    cur.execute("select 1/0")
except psycopg2.errors.DivisionByZero:
    cur.execute("rollback to savepoint s")
cur.execute("select 1")
conn.commit()
try:
    cur.execute("select * frm x")
except psycopg2.errors.SyntaxError as e:
    assert e.diag.statement_position == "10", e.diag.statement_position
conn.rollback()

# autocommit, executemany, execute_values
conn.autocommit = True
psycopg2.extras.execute_batch(cur, "select mbus4.post('with_psycopg2', %s)", [({"n": str(i)},) for i in range(5)])
cur.execute("select data->'n' from mbus4.consumen_with_psycopg2_by_default(100)")
assert cur.fetchall() == [(str(i),) for i in range(5)]
assert conn.get_transaction_status() == TRANSACTION_STATUS_IDLE

# notices
cur.execute("begin")
cur.execute("begin")
assert any("already a transaction" in n for n in conn.notices), conn.notices
cur.execute("rollback")

# cancel from another thread
timer = threading.Timer(0.3, conn.cancel)
timer.start()
try:
    cur.execute("select pg_sleep(60)")
    raise SystemExit("not canceled")
except psycopg2.errors.QueryCanceled:
    timer.join()
try:  # PostgreSQL signals a backend twice; the second signal may cancel what comes next
    cur.execute("select pg_sleep(0.1)")
except psycopg2.errors.QueryCanceled:
    pass
cur.execute("set application_name to 'psycopg two'")
assert conn.get_parameter_status("application_name") == "psycopg two"
cur.execute("select mbus4.drop_queue('with_psycopg2')")
conn.close()

# passwords
if os.environ.get("APP_URL"):
    psycopg2.connect(os.environ["APP_URL"]).close()
    try:
        psycopg2.connect(os.environ["APP_URL"], password="wrong")
        raise SystemExit("a wrong password is welcome")
    except psycopg2.OperationalError as e:
        assert 'password authentication failed for user "app"' in str(e), e

# COPY
with psycopg2.connect(os.environ["SQL_URL"]) as copying, copying.cursor() as cur:
    cur.execute("select mbus4.create_queue('with_psycopg2_copy', 64); select mbus4.create_view('with_psycopg2_copy')")
    copying.commit()
    cur.copy_from(io.StringIO("n=>1\nn=>2\n"), "with_psycopg2_copy_q", columns=("data",))
    assert cur.rowcount == 2, cur.rowcount
    cur.copy_expert("copy with_psycopg2_copy_q from stdin csv", io.StringIO('"n=>3,ü=>4"\n'))
    copying.commit()
    out = io.StringIO()
    cur.copy_expert("copy (select data from mbus4.consumen_with_psycopg2_copy_by_default(10)) to stdout csv header", out)
    assert out.getvalue() == 'data\n"""n""=>""1"""\n"""n""=>""2"""\n"""n""=>""3"", ""ü""=>""4"""\n', out.getvalue()
    copying.commit()
    cur.execute("select mbus4.drop_queue('with_psycopg2_copy')")
