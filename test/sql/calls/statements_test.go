package calls

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// conditions have no column, so that they decide as a whole whether anything is read.
var conditions = []string{
	"1=0", "1=1", "false", "null", "'a'='b'", "not true", "not 1=0", "1=0 and flag(true)", "flag(true) and 1=0", "1=0 or 2=3", "1=1 or flag(true)",
	"nullif(1, 1) = 1", "coalesce(null, false)", "coalesce(false, flag(true))", "case when 1=0 then flag(true) else false end",
	"case when false then true end", "1 in (2, 3)", "1 not in (1)", "1 = any('{}'::int[])", "'f'::bool", "(1, 2) = (1, 3)",
	"null is not null", "1 is distinct from 1", "true is false", "null = 1", "exists (select where false)", "exists (select 1 limit 0)",
	"(select false)", "not exists (select 1)", "now() < '2000-01-01'", "current_user = 'nobody'", "2 > 1", "(select true)", "1 between 2 and 3",
	"abs(-1) = 2", "upper('a') = 'a'", "array[1] = array[2]", "(1=0) is true", "greatest(1, 2) = 1", "1 in (select 2)", "null::bool is true",
}

// withColumn are conditions on id that constants decide.
var withColumn = []string{
	"id = 1", "id = null", "id = 1 and false", "id = 1 or true", "id > 0 and 1=0", "id in (select 1 where false)", "null and id = 1",
	"exists (select 1 where id = 1 and false)", "id = (select null::int)", "case when 1=0 then id = 1 else false end", "coalesce(false, id = 1)",
	"(1, 2) < (1, 1)", "id = any(array(select 1 where false))", "not (id = 1 or true)", "(id, 1) = (1, 2)", "id = 1 and now() < '2000-01-01'",
}

// shapes are statements in which %s stands for a condition.
var shapes = []string{
	"select * from box where %s", "select id from taken() id where %s", "select count(*) from box where %s", "select tick(1) where %s",
	"select distinct id from box where %s", "select id from box where %s order by id desc", "select id from box where %s order by id limit 1",
	"select sum(id) from box where %s having count(*) > 0", "select id, count(*) from box where %s group by id order by id",
	"select * from (select * from box where %s) s", "select * from (select * from box) s where %s",
	"with x as (select * from box where %s) select * from x", "with x as (select * from box) select * from x where %s",
	"with x as materialized (select * from box) select count(*) from x where %s",
	"select * from box where id in (select id from box where %s)", "select (select count(*) from box where %s)",
	"select id from box where %s union all select 7", "select id from taken() id where %s union select tick(3)",
	"select exists (select * from box where %s)", "select array(select id from box where %s)", "select id, (select 5 where %s) from box",
	"select * from box b join (values (1), (2)) v(n) on n = b.id where %s", "select row_number() over (order by id) from box where %s",
	"select tick(2), id from taken() id where %s", "select * from box cross join (select 1 as one where %s) s",
	"select * from (select 1 as one where %s) s, box", "select count(*) from box, generate_series(1, 3) where %s",
}

// constantOnly are shapes for conditions without a column.
var constantOnly = []string{
	"select count(*) from box having %s", "select id from box group by id having %s order by id",
	"select b.id, n from (values (1), (2)) v(n) left join box b on %s order by 1, 2",
	"select b.id, n from box b right join (values (1), (2)) v(n) on %s order by 1, 2",
	"select b.id, n from box b left join (values (1), (2)) v(n) on %s order by 1, 2",
	"select b.id, n from box b join (values (1), (2)) v(n) on %s order by 1, 2",
	"select case when %s then tick(1) else 0 end", "select coalesce(case when %s then 1 end, tick(2))",
}

const readTwice = "with x as (select tick(g) as n from generate_series(1, 4) g) "

// fixed are statements without a shape.
var fixed = []statement{
	{text: "select * from box limit 0"}, {text: "select * from box fetch first 0 rows only"}, {text: "select * from box order by id limit 0"},
	{text: "select * from box limit $1", params: []string{"0"}}, {text: "select count(*) from box limit $1", params: []string{null}},
	{text: "select * from box where 1 = $1", params: []string{"0"}}, {text: "select * from box where 1 = $1", params: []string{"1"}},
	{text: "select * from box where id = $1", params: []string{null}}, {text: "select * from box where $1", params: []string{"f"}},
	{text: "select * from box where $1 and flag(true)", params: []string{"f"}}, {text: "select * from box where $1 or id = 1", params: []string{null}},
	{text: "select n, id from (values (1), (2)) v(n) left join box on id = $1 order by 1", params: []string{null}},
	{text: "select * from box, (select 1 as a where $1) s", params: []string{"f"}},
	{text: "select case when $1 then tick(1) else 2 end", params: []string{"f"}}, {text: "select coalesce($1, tick(1))", params: []string{"4"}},
	{text: "select * from box where case when $1 then flag(true) else false end", params: []string{"f"}},
	{text: "select count(*) from generate_series(1, 3) g, lateral taken() t"}, {text: "select count(*) from generate_series(1, 3) g, taken() t"},
	{text: "select count(*) from generate_series(1, 3) g, lateral (select * from box) t"},
	{text: "select count(*) from generate_series(1, 3) g cross join lateral taken() t"},
	{text: "with x as (select tick(1)) select 2"}, {text: "with x as (select tick(1) as a) select a, a from x, (select 1) y"},
	{text: "with x as (select tick(1) as a) select x.a, y.a from x, x y"}, {text: "select 1 from (select 1 as a, tick(1) as b) s"},
	{text: "select 1 in (select tick(1))"}, {text: "select tick(1) = any(array(select id from box))"},
	{text: "select id from taken() id union all select id from box where false"}, {text: "select id from box intersect select 1 where false"},
	{text: "select 1 as id where false except select id from box"}, {text: "select id from box except select 1 where false"},
	{text: "select * from box where tag = null"}, {text: "select * from box where tag like null"}, {text: "select * from box where 1/0 = 1"},
	{text: "select nullif(tick(1), 1)"}, {text: "select exists (select tick(1))"}, {text: "select exists (select tick(id) from box order by tick(2) limit 1)"},
	{text: "select exists (select tick(1) offset 0)"}, {text: "select exists (select count(tick(1)))"}, {text: "select (select tick(1)) from generate_series(1, 3)"},
	{text: "select tick(g) from generate_series(1, 3) g limit 2"}, {text: "select tick(g) from generate_series(1, 3) g offset 2"},
	{text: "select id from box where flag(true) limit 1"},
	{text: readTwice + "select (select n from x limit 1), (select n from x limit 1)"}, {text: readTwice + "select (select n from x limit 1), (select n from x offset 2 limit 1)"},
	{text: readTwice + "select exists (select from x), exists (select from x where n > 1)"}, {text: readTwice + "select n, (select n from x limit 1) from x limit 2"},
	{text: readTwice + "select n, (select count(*) from x) from x limit 1"}, {text: readTwice + "(select n from x limit 1) union all (select n from x limit 3)"},
	{text: readTwice + "select a.n, b.n from x a, lateral (select n from x where n <= a.n limit 1) b limit 2"}, {text: readTwice + "select (select n from x limit 1) where exists (select from x where n = 2)"},
	{text: readTwice + ", y as (select n from x limit 2) select (select count(*) from y), (select n from x limit 1), (select min(n) from y)"},
	{text: readTwice + "select (select n from x limit 1) + (select 1 / (n - 2) from x offset 1 limit 1)"}, {text: readTwice + "select (select n from x limit 1) from x where n = $1 limit 1", params: []string{"2"}},
	{text: readTwice + "insert into box select n, (select max(n)::text from x where n < 2) from x limit 2"},
}

// explained are the statements to explain. Only the existence of the plan is compared.
var explained = []string{
	"select * from box", "select tick(1) from box", "insert into box select tick(1), 'm'", "select tick(1) limit 0", "select (select tick(1)) from box",
	"declare c cursor for select tick(1)", "select 1 / (tick(0))", "with x as (select tick(1)) select 2",
}

// explains are EXPLAIN with its options.
var explains = []string{
	"explain", "explain verbose", "explain (costs off, format json)", "explain analyze", "explain (analyze, timing off, buffers on, format json)",
	"explain (analyze false, settings)", "explain (analyze 1, summary off, wal)", "explain (timing)", "explain (wal on)", "explain (format none)",
	"explain (analyze none)", "explain (none)",
}

// repeated are statements in which PostgreSQL reads a part, the %s, again for each row of another
// part.
var repeated = []string{
	"select g, (select count(*) from %s where id = g) from generate_series(1, 3) g",
	"select g, (select id from %s where id = g limit 1) from generate_series(1, 3) g",
	"select g, (select count(*) from %s limit g) from generate_series(1, 3) g",
	"select g, t.* from generate_series(1, 3) g, lateral (select id from %s where id = g) t",
	"select g, t.* from generate_series(1, 3) g, lateral (select id + g as n from %s) t order by 1, 2",
	"select g, t.* from generate_series(1, 3) g, lateral (select id + g as n from %s limit 1) t",
	"select g, t.* from generate_series(1, 3) g, lateral (select sum(id + g) from %s) t",
	"select g, t.* from generate_series(1, 3) g left join lateral (select id from %s where id < g) t on true order by 1, 2",
	"select g, t.* from generate_series(1, 3) g, lateral (select id from %s, generate_series(1, g)) t order by 1, 2",
	"select g from generate_series(1, 3) g where exists (select from %s where id = g)",
	"select g from generate_series(1, 3) g where not exists (select from %s where id = g)",
	"select g from generate_series(1, 3) g where g in (select id from %s where id = g)",
	"select g from generate_series(1, 3) g where g = any (array(select id from %s where id <= g))",
	"select g, array(select id from %s where id >= g) from generate_series(1, 3) g",
	"select (select sum(x) from (select id + g as x from taken() id union all select id from %s) s) from generate_series(1, 3) g",
	"select g, (select count(*) from %s b, box c where b.id = g) from generate_series(1, 3) g",
	"select (with x as (select id from %s) select count(*) from x where id = g) from generate_series(1, 3) g",
	"select (with x as materialized (select id from %s) select count(*) from x where id = g) from generate_series(1, 3) g",
	"select (with x as (select id from %s where id > g) select count(*) from x) from generate_series(1, 3) g",
	"select g from generate_series(1, 0) g, lateral (select id from %s where id = g) t",
	"select g, h, (select count(*) from %s where id in (g, h)) from generate_series(1, 2) g, lateral generate_series(g, 2) h",
	"with recursive r as (select 1 as n union all select n + 1 from r, %s where n < 3 and id = 1) select * from r",
	"with recursive r as (select 1 as n union all select n + 1 from r where n < 3 and exists (select from %s where id = n)) select * from r",
	"select g from generate_series(1, 3) g group by g having (select count(*) from %s where id = g) > 0 order by g",
	"select g from generate_series(1, 3) g order by (select count(*) from %s where id = g), g",
	"select case when g > 1 then (select count(*) from %s where id = g) end from generate_series(1, 3) g",
}

// scans are the values of %s in repeated.
var scans = []string{
	"box", "taken() id", "tick(1) id", "(select * from box) s", "(select id from box order by id) s", "(select id from box where id = 1) s",
	"(select id from box union all select 3) s", "(select tick(1) as id) s", "(select tick(g) as id from generate_series(1, 2) g) s",
	"(select id from box join (values (1), (2)) v(n) on id = n) s", "rows from (taken(), tick(1)) as s(id, n)", "(select max(id) as id from box) s",
}

// unlike reports whether a statement is known to differ. A sub-select of a recursive query whose
// columns make calls is read again in each round, once per row of PostgreSQL's join, which may be
// more or fewer. And PostgreSQL infers from two equalities with one column that the other operands
// are equal.
func unlike(s statement) bool {
	return strings.Contains(s.text, "recursive") && strings.Contains(s.text, "(select tick") ||
		strings.Contains(s.text, "case when g > 1") && strings.Contains(s.text, "where id = 1)")
}

// all returns the statements of the recorded table.
func all() []statement {
	list := slices.Clone(fixed)
	for _, cond := range conditions {
		list = append(list, statement{text: fmt.Sprintf(shapes[0], cond)})
	}
	for _, cond := range []string{"1=0", "now() < '2000-01-01'", "(select false)", "2 > 1"} {
		for _, shape := range append(slices.Clone(shapes), constantOnly...) {
			list = append(list, statement{text: fmt.Sprintf(shape, cond)})
		}
	}
	for _, explain := range explains {
		for _, text := range explained {
			list = append(list, statement{text: explain + " " + text})
		}
	}
	for _, shape := range repeated {
		for _, scan := range scans {
			if s := (statement{text: fmt.Sprintf(shape, scan)}); !unlike(s) {
				list = append(list, s)
			}
		}
	}
	for _, cond := range withColumn {
		list = append(list, statement{text: fmt.Sprintf(shapes[0], cond)})
	}
	return list
}

// random returns a statement of a random shape with up to three conditions.
func random(rng *rand.Rand) statement {
	pick := func(list []string) string { return list[rng.IntN(len(list))] }
	from := shapes
	if rng.IntN(4) == 0 {
		from = constantOnly
	}
	cond := pick(conditions)
	for range rng.IntN(3) {
		cond = fmt.Sprintf(pick([]string{"(%s) and (%s)", "(%s) or (%s)", "not (%s) and (%s)", "case when %s then (%s) else false end", "coalesce((%s), (%s))"}),
			cond, pick(conditions))
	}
	return statement{text: fmt.Sprintf(pick(from), cond)}
}
