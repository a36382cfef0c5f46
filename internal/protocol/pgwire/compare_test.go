package pgwire

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"fiveways.dev/fiveways/test/postgres"
)

// Short constructors of the messages in conversations.
func parse(name, text string, oids ...uint32) pgproto3.FrontendMessage {
	return &pgproto3.Parse{Name: name, Query: text, ParameterOIDs: oids}
}

func bind(portal, statement string, args ...string) *pgproto3.Bind {
	b := &pgproto3.Bind{DestinationPortal: portal, PreparedStatement: statement}
	for _, a := range args {
		b.Parameters = append(b.Parameters, []byte(a))
	}
	return b
}

func bindFormats(statement string, in, out []int16, args ...string) pgproto3.FrontendMessage {
	b := bind("", statement, args...)
	b.ParameterFormatCodes, b.ResultFormatCodes = in, out
	return b
}

func describe(kind byte, name string) pgproto3.FrontendMessage {
	return &pgproto3.Describe{ObjectType: kind, Name: name}
}

func execute(portal string, limit uint32) pgproto3.FrontendMessage {
	return &pgproto3.Execute{Portal: portal, MaxRows: limit}
}

func closing(kind byte, name string) pgproto3.FrontendMessage {
	return &pgproto3.Close{ObjectType: kind, Name: name}
}

func query(text string) pgproto3.FrontendMessage { return &pgproto3.Query{String: text} }

// conversations holds messages that a client may send. Each is answered with one ReadyForQuery for
// every Query, FunctionCall and Sync in it.
var conversations = map[string][]pgproto3.FrontendMessage{
	"simple":                    {query("select 1 as a, 'x' as b, null, 1.5, true")},
	"several":                   {query("select 1; select 2; select 'three'")},
	"empty":                     {query(""), query(";"), query("-- nothing")},
	"error in the middle":       {query("select 1; select 1/generate_series(0, 0); select 2"), query("select 3")},
	"syntax error anywhere":     {query("select 1; selec 2"), query("select 3")},
	"block":                     {query("begin"), query("select 1"), query("commit")},
	"block in one":              {query("begin; select 1; commit; select 2")},
	"block left open":           {query("begin; select 1"), query("select 2; rollback")},
	"failed block":              {query("begin"), query("select 1/generate_series(0, 0)"), query("select 1"), query("commit"), query("select 1")},
	"failed block, rolled back": {query("begin; select 1/generate_series(0, 0); select 1"), query("select 1"), query("rollback")},
	"savepoint": {query("begin; savepoint s"), query("select 1/generate_series(0, 0)"), query("rollback to s"), query("select 1"), query("release s"), query("rollback to s"),
		query("end")},
	"warnings":       {query("commit"), query("rollback"), query("begin; begin"), query("abort")},
	"implicit block": {query("select 1; begin; select 1/generate_series(0, 0)"), query("select 1"), query("rollback")},
	"chain":          {query("begin"), query("commit and chain"), query("rollback and chain"), query("rollback"), query("commit and chain")},
	"read only":      {query("begin read only"), query("show transaction_read_only"), query("commit")},
	"read write in a savepoint": {query("begin read only; savepoint a; set transaction read write"), query("rollback to a; release a; set transaction read write; show transaction_read_only"),
		query("rollback"), query("begin; savepoint a; set transaction read only; rollback to a; show transaction_read_only; rollback"),
		query("begin; savepoint a; set transaction read only; release a; show transaction_read_only; rollback")},
	"isolation": {query("begin isolation level serializable, read write"), query("show transaction_isolation"), query("commit")},
	"set":       {query("set extra_float_digits = 0"), query("show extra_float_digits"), query("set nonsense = 1"), query("set application_name = 'a b'")},
	"set local": {query("begin; set local application_name = 'x'"), query("rollback"), query("show application_name")},
	"set local to default": {query("set a.b = 'c'"), query("select set_config('a.b', null, true)"), query("show a.b"), query("begin; set local a.b to default"), query("show a.b; commit"), query("show a.b"),
		query("set datestyle = 'German'"), query("begin; set local datestyle to default; show datestyle; savepoint s; set local datestyle = 'SQL'"), query("rollback to s; show datestyle; commit; show datestyle"),
		query("begin; set local datestyle to default; set datestyle = 'SQL'; commit; show datestyle"), query("begin; set local datestyle = 'German'; set datestyle to default; show datestyle; commit; show datestyle"),
		query("select set_config('new.x', null, false), set_config('new.y', null, true)"), query("show new.x"), query("show new.y"), query("reset new.z"), query("show new.z"), query("reset new"), query("show new.w")},
	"reported once": {query("set application_name = 'a'; set application_name = 'b'"), query("set application_name = 'b'")},
	"time zone":     {query("set timezone = 'Europe/Berlin'"), query("select '2024-01-02 03:04:05+00'::timestamptz"), query("set datestyle = 'SQL, DMY'")},
	"time zones": zones("01:30", "-5:30", "UTC+3", "gmt-03:00", "EST5EDT", "abc1", "<+0130>-1:30", "EST5EDT,M3.2.0,M11.1.0", "EST5EDT5", "est5foo", "CET-1CEST,M3.5.0,M10.5.0/3",
		"AEST-10AEDT,M10.1.0,M4.1.0/3", "XXX-167:59", "XXX168", "XXX-16:00:30", "EST5,M3.2.0,M11.1.0", "EST5EDT,M3.2.0", "EST5EDT,nonsense", "XYZ", "", "local", "5x", "<+03>",
		"etc/utc", "ETC/GMT+3", "us/pacific", "gb-eire", "australia/nsw", "america/port_of_spain", "zulu", "z", "gmt", "utc", "+3", "-3.5"),
	"time zones in texts": {query("select '2001-07-03 00:00:00 Etc/UTC'::timestamptz, '2001-07-03 00:00:00 us/pacific'::timestamptz, '2001-07-03 00:00:00 GB-Eire'::timestamptz, " +
		"'2001-07-03 00:00:00 est5foo'::timestamptz, '2001-07-03'::timestamp at time zone 'CET-1CEST,M3.5.0,M10.5.0/3', '2001-01-03'::timestamp at time zone 'EST5EDT5'"),
		query("select '2001-07-03 00:00:00 XXX168'::timestamptz"), query("select '2001-07-03 00:00 CET-1CEST,M3.5.0,M10.5.0/3'::timestamptz"),
		query("select '2001-07-03 00:00 X3.5.0'::timestamptz")},
	// A column that is a sub-select fails for some rows. It is computed only for those left over.
	"deferred columns": {
		query("select y from (select n, (select 1 / (n - 1)) as y from generate_series(1, 3) n) t where n = 3"),
		query("select t, t.* from (select n, (select 1 / (n - 1)) as y from generate_series(1, 3) n) t where n = any ('{2,3}') and y > 0"),
		query("select m, y from (select n, (select 1 / (n - 1)) as y from generate_series(1, 3) n) t, (values (2), (3), (5)) v (m) where n = m or n = m - 10"),
		query("select m, y from (select n, (select 1 / (n - 1)) as y from generate_series(1, 3) n) t join (values (2), (3)) v (m) on n = m and y < m"),
		query("select y from (select n, (select 1 / (n - 1)) as y from generate_series(1, 3) n limit 3) t where n = 2"),
		query("select y from (select n, (select 1 / (n - 1)) as y from generate_series(1, 3) n) t where y = 1"),
		query("select m, y from (select n, (select 1 / (n - 1)) as y from generate_series(1, 3) n) t left join (values (2)) v (m) on n = m"),
		query("select n, y from (select n, count(*), (select 1 / (n - 1)) as y from generate_series(1, 3) n group by n) t where n = 2"),
	},
	"constants that fail": {query("select 1; select 1/0; select 2"), query("select 1/0 from generate_series(1, 2) where false"), query("select 1 where 1/0 = 1 and false"),
		query("select case when true then 1 else 1/0 end"), query("select g from generate_series(1, 2) g where g > 1/0"), query("select 1 order by 1/0"), query("select 1 limit 1/0"),
		query("select g / 0 from generate_series(1, 1) g"), query("select 'x'::text::int"), query("prepare s as select 1/0"), query("execute s"),
		query("begin; declare c cursor for select 1/0"), query("rollback"),
		parse("s", "select 1/0"), describe('S', "s"), sync_, bind("", "s"), execute("", 0), sync_},
	"65,536 parameters": {parse("", "values ($1::int)"+placeholders(2, 65536)), describe('S', ""), bind("", ""), sync_, parse("", "select $65536::int"), sync_},
	"stars in rows": {query("select row(t.*), row(t.*, 3), row(0, t.a), row(*) from (values (1, 2)) t(a, b)"), query("select row(nope.*)"), query("select row(*)"),
		query("select row(t.*), count(*) from (values (1, 2), (1, 2)) t(a, b) group by a, b"), query("select row(t.*) from (values (1, 2)) t(a, b) group by a"),
		query("select a from (values (1, 2)) t(a, b) where row(t.*) = row(1, 2)"), query("select (select row(t.*)) from (values (1, 2)) t(a, b)"),
		query("select row_to_json(row(t.*)) from (values (1, 2)) t(a, b)")},
	"ambiguous": {query("select 1 as a, 2 as a order by a"), query("select 1 as a, 1 as a order by a"), query("select a, t.a from (values (1, 2)) t(a, b) order by a"),
		query("select a, b as a from (values (1, 2)) t(a, b) order by a"), query("select a as x, b as x from (values (1, 2)) t(a, b) group by x"),
		query("select a as x, t.a as x from (values (1, 2)) t(a, b) group by x order by x"), query("select a, b as a from (values (1, 2)) t(a, b) group by a, b"),
		query("select distinct on (a) 1 as a, 2 as a"), query("(select 1 as a, 2 as a) union select 1, 2 order by a"), query("select * from (values (1)) a(x), (values (2)) b(x) order by x"),
		query("select now() as a, now() as a limit 0"), query("select *, * from (values (1)) t(a) order by a"), query("select distinct a, a from (values (1), (1)) t(a) order by a")},
	"bits of bytes": {query(`select set_byte('\xaabb'::bytea, 0, 300), set_byte('\xaabb'::bytea, 1, -1), set_bit('\xaabb'::bytea, 0, 1), set_bit('\xaabb'::bytea, 9, 0), set_bit('\xaabb'::bytea, 8, 1)`),
		query(`select set_byte('\xaabb'::bytea, 2, 1)`), query(`select set_byte('\xaabb'::bytea, -1, 1)`), query(`select set_bit('\xaabb'::bytea, 16, 1)`), query(`select set_bit('\xaabb'::bytea, 1, 2)`)},
	"prepare in SQL": {query("prepare s (int) as select $1 + 1"), bind("", "s", "2"), execute("", 0), sync_, query("deallocate s"), bind("", "s", "2"), sync_},
	"activity": {query("select query, state, query_start = statement_timestamp() from pg_stat_activity where pid = pg_backend_pid()"),
		query("select length(query), octet_length(query) from pg_stat_activity where pid = pg_backend_pid() -- " + strings.Repeat("ü", 600)),
		parse("", "select query from pg_stat_activity where pid = pg_backend_pid() and state = $1"), bind("", "", "active"), execute("", 0), sync_,
		query("begin; declare c cursor for select query from pg_stat_activity where pid = pg_backend_pid()"), query("fetch c; rollback")},
	"drop what is not": {query("drop table if exists a, b cascade"), query("drop view a"), query("drop table if exists none.a"), query("drop table none.a"), query("drop index a"),
		query("drop sequence if exists a"), query("drop materialized view a"), query("drop foreign table if exists a"), query("drop schema if exists none cascade"),
		query("drop schema none"), parse("", "drop table if exists a"), bind("", ""), describe('P', ""), execute("", 0), sync_},
	"read-only commands": {query("begin read only"), query("savepoint s; drop table if exists a"), query("rollback to s; create table a ()"),
		query("rollback to s; create role a"), query("rollback to s; create temp table a as select 1"), query("rollback to s; select 1 as x into a"),
		query("rollback to s; alter table a add column b int"), query("rollback to s; truncate a"), query("rollback to s; create view a as select 1"),
		query("rollback to s; create extension if not exists hstore"), query("rollback to s; comment on table a is 'x'"), query("rollback to s; drop schema a"),
		query("rollback to s; refresh materialized view a"), query("rollback")},
	"prepared when": {query("begin"), parse("a", "select 1"), parse("b", "select 2"), sync_, query("select name from pg_prepared_statements order by prepare_time; " +
		"select count(distinct prepare_time) from pg_prepared_statements"), query("rollback")},
	"type modifiers": {query("select 3.14::numeric(10,2) as pi, null::varchar(42), 'x'::char(3), null::numeric(10,3)[], '{x}'::varchar(1)[], interval '1' day, " +
		"'1 day'::interval(2), time '1:00', null::time(0), 'x'::text::varchar(5), 'x'::varchar(5)::text, 1.5::numeric(4,1) + 1, upper('x'::varchar(5)), 2::numeric(5,2)"),
		query("select a, b, a::numeric(3,1) as c from (select 2.5::numeric(3,1), 'x'::varchar(3)) t(a, b)"), query("with w as (select 2.5::numeric(3,1) as a) select a, (select a from w) as b, array_agg(a), max(a) from w group by a order by a"),
		query("select 'a'::varchar(3) as x union select 'b'::varchar(3)"), query("select 'a'::varchar(3) as x union all select 'b'::varchar(4)"),
		query("select 'a'::varchar(3) as x union all select 'b'"), query("values (1::numeric(3,1))"),
		query("with recursive r(n) as (select 1.5::numeric union all select n + 1 from r where n < 3) select n, n::numeric(3,0) from r"),
		parse("s", "select $1::varchar(7), $2::numeric(5,1)"), describe('S', "s"), bind("", "s", "x", "2"), describe('P', ""), execute("", 0), sync_},
	"execute in SQL": {parse("s", "select $1::int * 2"), sync_, query("execute s(21)"), query("deallocate all"), query("execute s(1)")},
	"name in use":    {parse("s", "select 1"), parse("s", "select 2"), sync_, bind("", "s"), execute("", 0), sync_},
	"unnamed":        {parse("", "select 1"), sync_, bind("", ""), execute("", 0), sync_, query("select 2"), bind("", ""), sync_},
	"unnamed is replaced": {parse("", "select 1"), sync_, parse("", "selec"), sync_, bind("", ""), sync_, parse("", "select 1"), sync_, parse("", "select nope"), sync_, bind("", ""), sync_,
		query("begin"), parse("", "select generate_series(1, 5)"), bind("", ""), execute("", 2), sync_, query("select 1"), execute("", 2), sync_, query("rollback")},
	"describe":        {parse("s", "select $1::int as i, $2::text as t, $3::bool, now() is null as n"), describe('S', "s"), sync_, closing('S', "s"), describe('S', "s"), sync_},
	"describe none":   {parse("", "begin"), describe('S', ""), bind("", ""), describe('P', ""), sync_},
	"guessed types":   {parse("", "select $1 + 1, $2 || 'x', $3 = true, $4"), describe('S', ""), sync_},
	"given types":     {parse("", "select $1, $2", 20, 0), describe('S', ""), bind("", "", "1", "x"), describe('P', ""), execute("", 0), sync_},
	"cannot guess":    {parse("", "select $2 + 1"), sync_, parse("", "select $1 is null"), describe('S', ""), sync_},
	"binary results":  {parse("", "select 1::int, 2::int8, 'x'::text, true, 1.5::float8, null::int"), bindFormats("", nil, []int16{1}), describe('P', ""), execute("", 0), sync_},
	"mixed results":   {parse("", "select 1::int, 2::int"), bindFormats("", nil, []int16{0, 1}), describe('P', ""), execute("", 0), sync_},
	"binary in":       {parse("", "select $1::int + $2::int"), bindFormats("", []int16{1, 0}, nil, "\x00\x00\x00\x05", "6"), execute("", 0), sync_},
	"bad binary":      {parse("", "select $1::int"), bindFormats("", []int16{1}, nil, "\x00\x05"), execute("", 0), sync_},
	"bad text":        {parse("", "select $1::int"), bind("", "", "x"), execute("", 0), sync_},
	"too many":        {parse("", "select 1"), bind("", "", "x"), sync_},
	"too few":         {parse("s", "select $1::int"), bind("", "s"), sync_},
	"formats":         {parse("", "select 1, 2"), bindFormats("", nil, []int16{0, 0, 0}), sync_, bindFormats("", []int16{0, 0}, nil, "1"), sync_},
	"row limit":       {parse("", "select generate_series(1, 5)"), bind("p", ""), execute("p", 2), execute("p", 2), execute("p", 2), execute("p", 2), sync_},
	"limit at end":    {parse("", "select generate_series(1, 2)"), bind("p", ""), execute("p", 2), execute("p", 2), sync_},
	"suspended":       {query("begin"), parse("", "select generate_series(1, 3)"), bind("p", ""), execute("p", 2), sync_, execute("p", 2), sync_, query("commit"), execute("p", 0), sync_},
	"portal and sync": {parse("", "select generate_series(1, 3)"), bind("p", ""), execute("p", 2), sync_, execute("p", 2), sync_},
	"portal in use":   {query("begin"), parse("", "select 1"), bind("p", ""), bind("p", ""), sync_, query("rollback")},
	"close portal":    {query("begin"), parse("", "select 1"), bind("p", ""), closing('P', "p"), execute("p", 0), sync_, query("rollback")},
	"cursor as portal": {query("begin; declare c cursor for select generate_series(1, 4)"), describe('P', "c"), execute("c", 2), sync_, query("fetch 1 from c"),
		query("commit")},
	"fetch before its cursor": {parse("f", "fetch all from c"), describe('S', "f"), sync_, bind("", "f"), describe('P', ""), execute("", 0), sync_,
		query("begin; declare c cursor for select generate_series(1, 2) as n, 'x' as s"), describe('S', "f"), bind("", "f"), describe('P', ""), execute("", 0), sync_,
		query("close c; declare c cursor for select true as b"), bind("", "f"), describe('P', ""), execute("", 0), sync_,
		query("close c"), bind("p", "f"), query("rollback")},
	"fetch in a pipeline": {query("begin"), parse("d", "declare c cursor for select generate_series(1, 3)"), bind("", "d"), describe('P', ""), execute("", 0),
		parse("f", "fetch 2 from c"), describe('S', "f"), bind("", "f"), describe('P', ""), execute("", 0), sync_, query("rollback")},
	"fetch bound before its cursor": {query("begin"), parse("f", "fetch 2 from c"), bind("p", "f"), parse("d", "declare c cursor for select generate_series(1, 3)"), bind("", "d"),
		execute("", 0), execute("p", 0), sync_, query("fetch 2 from c; rollback")},
	"move of no cursor": {parse("", "move 1 from c"), describe('S', ""), bind("", ""), execute("", 0), sync_, query("fetch 1 from c")},
	"portal as cursor":  {query("begin"), parse("", "select generate_series(1, 4)"), bind("c", ""), sync_, query("fetch 2 from c"), query("close c"), query("rollback")},
	"parameters that fail": {parse("s", "select $1::int, $2::date"), bind("", "s", "x", "2020-01-01"), sync_, bind("", "s", "", "2020-01-01"), sync_, bind("p", "s", "1", "x"), sync_,
		parse("", "select $1::text"), bind("", "", "\x00"), sync_, bind("", "", "\xff"), sync_, bindFormats("", []int16{2}, nil, "x"), sync_,
		parse("", "select $1::numeric(3,1)[]"), bind("", "", "{1,x}"), sync_},
	"binary values of wrong lengths": wrongBinary(),
	"binary cursor": {query("begin; declare c binary cursor for select n, n::text, n::numeric from generate_series(1, 3) n; fetch c; move c"), parse("", "fetch c"), bind("", ""), describe('P', ""),
		execute("", 0), sync_, query("fetch c; rollback")},
	"close all": {query("begin; declare c cursor for select 1"), parse("", "select generate_series(1, 3)"), bind("p", ""), execute("p", 1), parse("", "close all"), bind("", ""),
		execute("", 0), execute("", 0), sync_, query("rollback"), query("begin"), parse("", "select generate_series(1, 3)"), bind("p", ""), execute("p", 1), sync_,
		query("close all"), execute("p", 1), sync_, query("rollback"), query("begin"), parse("", "close p"), bind("p", ""), execute("p", 0), sync_, query("rollback")},
	"two-phase commit": {query("begin; prepare transaction 'x'"), query("select 1"), query("rollback"), query("prepare transaction 'x'; select 1"), query("begin; select 1/generate_series(0, 0)"),
		query("prepare transaction 'x'"), query("commit prepared 'x'"), query("begin; rollback prepared 'x'"), query("commit prepared 'x'"), query("rollback"),
		parse("", "begin"), bind("", ""), execute("", 0), parse("", "prepare transaction 'x'"), bind("", ""), execute("", 0), parse("", "select 1"), bind("", ""), execute("", 0), sync_,
		query("rollback prepared 'x'; select 1")},
	"twice":           {parse("", "select 1"), bind("", ""), execute("", 0), execute("", 0), sync_},
	"command twice":   {parse("", "begin"), bind("", ""), execute("", 0), execute("", 0), sync_, query("rollback")},
	"skip until sync": {parse("", "selec"), bind("", ""), execute("", 0), parse("", "select 1"), sync_, parse("", "select 2"), bind("", ""), execute("", 0), sync_},
	"many statements": {parse("", "select 1; select 2"), sync_},
	"nothing":         {parse("", ""), describe('S', ""), bind("", ""), describe('P', ""), execute("", 0), sync_},
	"pipelined block": {parse("", "begin"), bind("", ""), execute("", 0), parse("", "select 1"), bind("", ""), execute("", 0), parse("", "select 1/generate_series(0, 0)"), bind("", ""),
		execute("", 0), parse("", "commit"), bind("", ""), execute("", 0), sync_, query("select 1"), query("rollback")},
	"failed block, extended": {query("begin; select 1/generate_series(0, 0)"), parse("", "select 1"), sync_, parse("", "rollback"), bind("", ""), execute("", 0), sync_},
	"fails in the pipeline":  {parse("", "select 1"), bind("", ""), execute("", 0), parse("", "select 1/generate_series(0, 0)"), bind("", ""), execute("", 0), sync_, sync_},
	"no such things":         {bind("", "none"), sync_, execute("none", 0), sync_, describe('S', "none"), sync_, describe('P', "none"), sync_, closing('S', "none"), sync_},
	"subtype":                {describe('x', ""), sync_, closing('x', ""), sync_},
	"copy data":              {&pgproto3.CopyData{Data: []byte("x")}, &pgproto3.CopyDone{}, sync_},
	"discard":                {query("prepare s as select 1"), query("discard all"), query("execute s"), query("begin"), query("discard all"), query("rollback")},
	"statement timeout":      {query("set statement_timeout = 10"), query("select pg_sleep(10)"), query("reset statement_timeout")},
	"values in a sub-select": {
		query("select x, x in (select y from (values (1), (2), (2)) v(y)), x not in (select y from (values (2), (null)) v(y)), x in (select y from (values (1)) v(y) where y > 5) from (values (1), (2), (null), (3)) t(x)"),
		query("select x, x in (select y from (values (1::int8), (-1)) v(y)), x = any (select y from (values (2::int2), (null)) v(y)) from (values (1::int4), (2), (-1), (null)) t(x)"),
		query("select x, x in (select y from (values ('a '), ('B'), ('')) v(y)), x in (select y::text from (values ('a'::varchar), (null)) v(y)) from (values ('a'::text), ('a '), ('b'), (''), (null)) t(x)"),
		query("select x in (select y from (values (1.0), (1.50)) v(y)) from (values (1), (2)) t(x); select d in (select e from (values (date '2024-02-29')) v(e)) from (values (timestamp '2024-02-29')) t(d)"),
		query("select count(*) from generate_series(1, 3000) a where a in (select b * 2 from generate_series(1, 3000) b)"),
		query("select x in (select 1 / y from generate_series(0, 0) y) from generate_series(1, 1) x"), query("select 1 in (select 'x')")},
	"text that is none":  {query("select '\xff'"), parse("", "select '\xc3('"), sync_, parse("", "select $1::text"), bind("", "", "\xe2\x82"), sync_},
	"errors":             {query("select nope"), query("select nope()"), query("select * from nope"), query("select 'x'::int"), query("select 1 +"), query("select $1")},
	"places of literals": {query("select date 'x'"), query("select cast('x' as int)"), query("select 1 + int 'x'"), query("select 1 where date '2020-01-01'"), query("select coalesce(1, date '2020-01-01')"), query("select 1 union select date '2020-01-01'"), query("select interval 'x' day")},
	"names":              {query(`select 1 as "ä b", 2, 'x'::text, upper('x'), 1 + 1, (select 3), case when true then 1 end, array[1], coalesce(1, 2)`)},
}

// wrongBinary sends binary values that are too short, too long or otherwise wrong.
func wrongBinary() (all []pgproto3.FrontendMessage) {
	const word = "\x00\x00\x00"
	head := word + "\x01" + word + "\x00" + word + "\x17" + word + "\x01" + word + "\x01" // one integer
	for _, c := range []struct {
		t      string
		values []string
	}{
		{"int", []string{"", "\x00", "12345"}}, {"bool", []string{"", "12"}}, {`"char"`, []string{"", "12"}}, {"jsonb", []string{"", "\x02"}},
		{"numeric", []string{"", "\x00\x00\x00\x00\x00\x00\x00\x00x"}}, {"uuid", []string{"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}},
		{"inet", []string{"", "\x02", "\x04", "\x02\x21", "\x02\x08\x00", "\x02\x08\x00\x05", "\x02\x08\x00\x04\x0a", "\x02\x08\x00\x04\x0a\x00\x00\x01", "\x02\x08\x00\x04\x0a\x00\x00\x01x"}},
		{"int[]", []string{"", word + "\x00" + word + "\x00" + word + "\x17", word + "\x00" + word + "\x00" + word + "\x17x", head, head + word + "\x04\x00\x00\x00\x07",
			head + word + "\x04\x00", head + word + "\x05\x00\x00\x00\x00\x00", head + word + "\x02\x00\x00", head + "\xff\xff\xff\xfe", head + "\xff\xff\xff\xffx",
			word + "\x01" + word + "\x00" + word + "\x19" + word + "\x01" + word + "\x01\xff\xff\xff\xff", // of text
			word + "\x01" + word + "\x00\x7f\x00\x00\x00" + word + "\x01" + word + "\x01\xff\xff\xff\xff", // an OID of another server
			word + "\x01" + word + "\x00" + word + "\x17\x7f\xff\xff\xff" + word + "\x01", word + "\x01" + word + "\x00" + word + "\x17" + word + "\x01\x7f\xff\xff\xff",
			word + "\x01" + word + "\x00" + word + "\x17\xff\xff\xff\xff" + word + "\x01", word + "\x01" + word + "\x00" + word + "\x17\x00\x10\x00\x00" + word + "\x01"}},
	} {
		all = append(all, parse("", "select $1::"+c.t))
		for _, v := range c.values {
			all = append(all, bindFormats("", []int16{1}, nil, v), execute("", 0), sync_)
		}
	}
	return all
}

// zones sets each time zone and queries summer and winter times in it.
func zones(names ...string) (all []pgproto3.FrontendMessage) {
	for _, name := range names {
		all = append(all, query("set timezone = '"+name+"'"), query("show timezone; select timestamptz '2001-07-03 00:00+00', timestamptz '2031-01-03 00:00+00'; reset timezone"))
	}
	return all
}

// placeholders returns parameters, each as a row of VALUES after a comma.
func placeholders(first, last int) string {
	var b strings.Builder
	for i := first; i <= last; i++ {
		fmt.Fprintf(&b, ", ($%d)", i)
	}
	return b.String()
}

// TestAsPostgres runs each conversation against PostgreSQL and this server. The answers must be the
// same.
func TestAsPostgres(t *testing.T) {
	real, err := url.Parse(postgres.Start(t, postgres.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	n := startRealNode(t, Options{})
	for name, send := range conversations {
		t.Run(name, func(t *testing.T) {
			theirs := (&node{t: t, addr: real.Host}).talk(real.User.Username(), "postgres", send)
			ours := (&node{t: t, addr: n.addr}).talk("guest", "fiveways", send)
			if ours != theirs {
				t.Errorf("we answer\n%s\nPostgreSQL\n%s", ours, theirs)
			}
		})
	}
}

// talk logs in, sends messages and returns the answers as text, one a line.
func (n *node) talk(user, database string, send []pgproto3.FrontendMessage) string {
	n.t.Helper()
	c := n.dial().start(protocol3, "user", user, "database", database, "TimeZone", "UTC")
	defer c.nc.Close()
	if got := c.until("Z"); !strings.HasSuffix(got, "Z I") {
		n.t.Fatalf("login: %s", got)
	}
	c.send(send...)
	var lines []string
	for _, m := range send {
		switch m.(type) {
		case *pgproto3.Query, *pgproto3.Sync, *pgproto3.FunctionCall:
			lines = append(lines, strings.Split(c.until("Z"), " / ")...)
		}
	}
	return fmt.Sprint(strings.Join(lines, "\n"))
}
