"""Lets libraries query the catalogs: asyncpg, SQLAlchemy's inspector, Django's inspectdb, psycopg.

Prints the shape of each answer, or the error.
"""
import asyncio
import contextlib
import io
import os
import sys

URL = os.environ["SQL_URL"]
def say(name, f):
    try:
        print(name, "=", f())
    except Exception as e:
        print(name, "! ", type(e).__name__, str(e).splitlines()[0][:300])

async def with_asyncpg():
    import asyncpg
    async def one(name, f):
        try: print(name, "=", await f())
        except Exception as e: print(name, "! ", type(e).__name__, str(e).splitlines()[0][:300])
    pool = await asyncpg.create_pool(URL, min_size=1, max_size=3)
    for i in range(3):
        async with pool.acquire() as c:
            await c.fetchval("select 1")
    async with pool.acquire() as c:
        await one("asyncpg version", lambda: asyncio.sleep(0, c.get_server_version()[:1]))
        await c.set_builtin_type_codec("hstore", codec_name="pg_contrib.hstore", schema="public")
        await one("asyncpg hstore", lambda: c.fetchval("select 'a=>1'::hstore"))
        await one("asyncpg record", lambda: c.fetchval("select row(1, 'a')"))
        await one("asyncpg records", lambda: c.fetchval("select array[row(1, 'a')]"))
        await c.execute("select mbus4.create_queue('meta', 64)")
        await one("asyncpg post", lambda: c.fetchval("select mbus4.post('meta', $1, $2) is not null", {"k": "v"}, {"h": "1"}))
        async def composite():
            row = await c.fetchrow("select q from mbus4.consume('meta') q")
            return [k for k in row["q"].keys()]
        await one("asyncpg composite", composite)
        async def peek():
            row = await c.fetchrow("select * from mbus4.consume('meta') q")
            return row
        await one("asyncpg consume", peek)
        await one("asyncpg introspect", lambda: c.fetchval("select null::mbus4.qt_model[]"))
        await one("asyncpg namespace", lambda: c.fetchval("select 'pg_class'::regclass::text"))
        await one("asyncpg arrays", lambda: c.fetchval("select $1::text[]", ["a", None]))
        async def tx():
            async with c.transaction(isolation="serializable", readonly=True, deferrable=True):
                async for r in c.cursor("select generate_series(1,5)"): pass
            return "ok"
        await one("asyncpg cursor", tx)
        async def stmt():
            s = await c.prepare("select * from mbus4.queue where qname = $1")
            return [(a.name, a.type.name) for a in s.get_attributes()][:3], [p.name for p in s.get_parameters()]
        await one("asyncpg prepare", stmt)
        await one("asyncpg reset", lambda: c.reset())
        async def reload():
            await c.reload_schema_state(); return "ok"
        await one("asyncpg reload", reload)
        await c.execute("select mbus4.drop_queue('meta')")
    await pool.close()

def with_sqlalchemy():
    import sqlalchemy as sa
    from sqlalchemy.engine import reflection
    e = sa.create_engine(URL.replace("postgres://", "postgresql+psycopg2://"))
    insp = sa.inspect(e)
    for schema in ("mbus4",):
        for name in sorted(m for m in dir(insp) if m.startswith(("get_", "has_")) ):
            f = getattr(insp, name)
            import inspect as i
            params = list(i.signature(f).parameters)
            args = []
            if name == "has_table" or name == "has_index" or name == "has_sequence" or "table_name" in params or "view_name" in params or "sequence_name" in params or "index_name" in params:
                args.append("queue")
            if "index_name" in params: args.append("nothing")
            kw = {}
            if "schema" in params: kw["schema"] = schema
            def call():
                r = f(*args, **kw)
                return shape(r)
            say("sqlalchemy " + name, call)
    def reflect():
        md = sa.MetaData(); md.reflect(e, schema="mbus4", views=True)
        return sorted(md.tables)
    say("sqlalchemy reflect", reflect)
    say("sqlalchemy types", lambda: [str(c["type"]).split()[0] for c in insp.get_columns("queue", schema="mbus4")][:3])
    say("sqlalchemy view", lambda: (insp.get_view_definition("queue", schema="mbus4") or "")[:7])
    say("sqlalchemy pg_class", lambda: len(insp.get_columns("pg_class", schema="pg_catalog")))

def shape(r):
    if isinstance(r, (list, tuple)): return f"{type(r).__name__} of {shape(r[0])}" if r else "empty " + type(r).__name__
    if isinstance(r, dict): return "dict " + (",".join(map(str, list(r)[:12])) if r and not isinstance(list(r)[0], tuple) else str(len(r) > 0))
    return r if isinstance(r, (bool, type(None))) else type(r).__name__

def with_django():
    import django
    from django.conf import settings
    from urllib.parse import urlparse
    u = urlparse(URL)
    settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": u.path[1:], "USER": u.username, "PASSWORD": u.password or "", "HOST": u.hostname, "PORT": u.port,
        "OPTIONS": {"options": "-c search_path=mbus4,public"}}})
    django.setup()
    from django.core.management import call_command
    from django.db import connection
    def inspect(*a):
        b, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stderr(err): call_command("inspectdb", *a, stdout=b, **({"include_views": True}))
        return [l.strip().replace("db_collation='C', ", '') for l in b.getvalue().splitlines() if "class " in l or "nable" in l or "error" in l or "qname" in l or "consumers_cnt" in l]
    say("django inspectdb", lambda: inspect())
    say("django inspectdb queue", lambda: inspect("queue"))
    with connection.cursor() as cur:
        i = connection.introspection
        say("django tables", lambda: sorted({t.type for t in i.get_table_list(cur)}))
        for t in ("queue",):
            say("django constraints", lambda: i.get_constraints(cur, t))
            say("django relations", lambda: i.get_relations(cur, t))
            say("django sequences", lambda: i.get_sequences(cur, t))
            say("django primary", lambda: i.get_primary_key_columns(cur, t))
            say("django description", lambda: [(d.name, d.type_code, d.null_ok) for d in i.get_table_description(cur, t)][:3])
    say("django version", lambda: connection.pg_version // 10000)

def with_psycopg():
    import psycopg
    from psycopg.types import TypeInfo
    from psycopg.types.composite import CompositeInfo, register_composite
    from psycopg.types.enum import EnumInfo
    from psycopg.types.range import RangeInfo
    from psycopg.types.multirange import MultirangeInfo
    from psycopg.types.hstore import register_hstore
    with psycopg.connect(URL, autocommit=True) as c:
        say("psycopg typeinfo", lambda: TypeInfo.fetch(c, "hstore").name)
        say("psycopg no type", lambda: TypeInfo.fetch(c, "nothing"))
        say("psycopg composite", lambda: CompositeInfo.fetch(c, "mbus4.qt_model").field_names)
        say("psycopg view", lambda: CompositeInfo.fetch(c, "mbus4.queue").field_names[:3])
        say("psycopg enum", lambda: EnumInfo.fetch(c, "nothing"))
        say("psycopg range", lambda: RangeInfo.fetch(c, "nothing"))
        say("psycopg multirange", lambda: MultirangeInfo.fetch(c, "nothing"))
        def comp():
            info = CompositeInfo.fetch(c, "mbus4.qt_model"); register_hstore(TypeInfo.fetch(c, "hstore"), c); register_composite(info, c)
            return c.execute("select null::mbus4.qt_model").fetchone()
        say("psycopg register", comp)
        say("psycopg row", lambda: c.execute("select row(1,'a')").fetchone())
        say("psycopg info", lambda: (c.info.encoding, c.info.parameter_status("client_encoding")))
    import psycopg2, psycopg2.extras
    c2 = psycopg2.connect(URL); c2.autocommit = True
    say("psycopg2 composite", lambda: psycopg2.extras.register_composite("mbus4.qt_model", c2).attnames)
    say("psycopg2 hstore", lambda: psycopg2.extras.register_hstore(c2))
    def enc(n): c2.set_client_encoding(n); cur = c2.cursor(); cur.execute("select %s", ("é",)); return n, cur.fetchone()
    say("psycopg2 latin1", lambda: enc("LATIN1")); say("psycopg2 win1252", lambda: enc("WIN1252")); 

for part in sys.argv[1:] or ["asyncpg", "sqlalchemy", "django", "psycopg"]:
    try:
        f = globals()["with_" + part]
        if part == "asyncpg": asyncio.run(f())
        else: f()
    except Exception as e:
        print(part, "!!", type(e).__name__, str(e).splitlines()[0][:300])
