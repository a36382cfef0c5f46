"""Takes coffee orders over SQL with psycopg 3 (pip install "psycopg[binary]"): posts orders, and consumes them in
transactions.

SQL_URL is the address of the broker (default postgres://guest@127.0.0.1:5433/fiveways).
"""
import os

import psycopg
from psycopg.types import TypeInfo
from psycopg.types.hstore import register_hstore

conn = psycopg.connect(os.environ.get("SQL_URL", "postgres://guest@127.0.0.1:5433/fiveways"), autocommit=True)
register_hstore(TypeInfo.fetch(conn, "hstore"), conn)
conn.execute("select mbus4.create_queue('coffee', 4)")

# A post outside a transaction is on disk when it returns.
for table, drink in enumerate(["espresso", "tea"], 1):
    conn.execute("select mbus4.post('coffee', %s, properties => %s)", ({"drink": drink}, {"table": str(table)}))


def order():
    return conn.execute("select data, properties from mbus4.consume('coffee')").fetchone()


# A consumed message is removed if its transaction commits, and returns if it rolls back.
try:
    with conn.transaction():
        data, properties = order()
        raise RuntimeError("the machine is broken")
except RuntimeError as e:
    print(f"{data['drink']} for table {properties['table']}: {e}")

while True:
    with conn.transaction():
        got = order()
        if got is None:  # no message is available now
            break
        data, properties = got
        print(f"{data['drink']} for table {properties['table']}: made")

conn.execute("select mbus4.drop_queue('coffee')")
conn.close()
