package statements

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// tables are the tables that the statements read.
const tables = `with people(id, name, age) as (values (1, 'ann', 30), (2, 'bob', 25), (3, 'cid', null), (4, 'dan', 25), (5, null, 41)), ` +
	`pets(owner, name) as (values (1, 'rex'), (1, 'tom'), (4, 'kit'), (9, 'bob'), (null, 'ann')) `

// generator generates SELECTs. ints and texts are the columns in scope.
type generator struct {
	rng   *rand.Rand
	alias int
	ints  []string
	texts []string
}

func (g *generator) one(list ...string) string { return list[g.rng.IntN(len(list))] }

func (g *generator) chance(percent int) bool { return g.rng.IntN(100) < percent }

func (g *generator) name() string {
	g.alias++
	return fmt.Sprintf("x%d", g.alias)
}

// item returns an item of FROM, and adds its columns to the scope.
func (g *generator) item(depth int) string {
	n := g.name()
	if g.chance(50) {
		g.ints, g.texts = append(g.ints, n+".id", n+".age"), append(g.texts, n+".name")
		return "people " + n
	}
	if depth > 0 && g.chance(30) {
		inner := &generator{rng: g.rng, alias: g.alias}
		text := fmt.Sprintf("(%s) %s(a, b)", inner.plain(depth-1, false), n)
		g.alias = inner.alias
		g.ints, g.texts = append(g.ints, n+".a"), append(g.texts, n+".b")
		return text
	}
	if g.chance(20) {
		g.ints = append(g.ints, n)
		return fmt.Sprintf("generate_series(%d, %d) %s", g.rng.IntN(3), g.rng.IntN(4), n)
	}
	g.ints, g.texts = append(g.ints, n+".owner"), append(g.texts, n+".name")
	return "pets " + n
}

func (g *generator) from(depth int) string {
	text := g.item(depth)
	for g.chance(45) {
		switch g.rng.IntN(6) {
		case 0:
			text += ", " + g.item(depth)
		case 1:
			text += " cross join " + g.item(depth)
		case 2:
			text += " left join " + g.item(depth) + " on " + g.cond(0)
		case 3:
			text = fmt.Sprintf("%s join %s on %s", text, g.item(depth), g.cond(0))
		default: // full joins support only equalities
			left := len(g.ints)
			kind := g.one("right", "full", "left", "inner")
			item := g.item(depth)
			text = fmt.Sprintf("%s %s join %s on %s = %s", text, kind, item, g.one(g.ints[:left]...), g.one(g.ints[left:]...))
			if strings.Contains(text[:len(text)-len(item)], ", ") {
				return text
			}
		}
	}
	return text
}

func (g *generator) integer(depth int) string {
	switch g.rng.IntN(7) {
	case 0:
		return fmt.Sprint(g.rng.IntN(6))
	case 1:
		return fmt.Sprintf("%s + %d", g.one(g.ints...), g.rng.IntN(3))
	case 2:
		return fmt.Sprintf("coalesce(%s, %d)", g.one(g.ints...), g.rng.IntN(3))
	case 3:
		if depth > 0 {
			return "(" + g.scalar(depth-1) + ")"
		}
	}
	return g.one(g.ints...)
}

func (g *generator) word() string {
	if len(g.texts) == 0 || g.chance(15) {
		return "'" + g.one("ann", "bob", "kit", "") + "'"
	}
	if g.chance(20) {
		return fmt.Sprintf("upper(%s)", g.one(g.texts...))
	}
	return g.one(g.texts...)
}

// scalar returns a scalar sub-select, which may use the columns in scope.
func (g *generator) scalar(depth int) string {
	inner := &generator{rng: g.rng, alias: g.alias}
	from := inner.from(depth)
	own := inner.one(inner.ints...)
	inner.ints, inner.texts = append(inner.ints, g.ints...), append(inner.texts, g.texts...)
	g.alias = inner.alias
	return fmt.Sprintf("select %s(%s) from %s where %s", g.one("count", "min", "max"), own, from, inner.cond(depth))
}

func (g *generator) cond(depth int) string {
	switch g.rng.IntN(11) {
	case 0:
		return fmt.Sprintf("(%s and %s)", g.cond(depth), g.cond(depth))
	case 1:
		return fmt.Sprintf("(%s or %s)", g.cond(depth), g.cond(depth))
	case 2:
		return "not " + g.cond(depth)
	case 3:
		return g.one(g.ints...) + g.one(" is null", " is not null")
	case 4:
		return fmt.Sprintf("%s between %d and %d", g.integer(0), g.rng.IntN(3), g.rng.IntN(30))
	case 5:
		if depth > 0 {
			return g.one("exists", "not exists") + " (" + g.scalar(depth-1) + g.one("", " having count(*) > 1") + ")"
		}
	case 6:
		if depth > 0 {
			inner := &generator{rng: g.rng, alias: g.alias}
			text := inner.plain(depth-1, true)
			g.alias = inner.alias
			return fmt.Sprintf("%s %s (%s)", g.integer(0), g.one("in", "not in", "= any", "> all", "<> any"), text)
		}
	case 7:
		return fmt.Sprintf("%s %s %s", g.word(), g.one("=", "<", ">=", "<>"), g.word())
	}
	return fmt.Sprintf("%s %s %s", g.integer(depth), g.one("=", "<", "<=", "<>"), g.integer(0))
}

// plain returns a SELECT of an integer, and also of a text unless alone.
func (g *generator) plain(depth int, alone bool) string {
	from := g.from(depth)
	text := fmt.Sprintf("select %s", g.integer(depth))
	if !alone {
		text += ", " + g.word()
	}
	text += " from " + from
	if g.chance(60) {
		text += " where " + g.cond(depth)
	}
	return text
}

func (g *generator) grouped(depth int) string {
	from := g.from(depth)
	where := ""
	if g.chance(50) {
		where = " where " + g.cond(depth)
	}
	n, w := g.one(g.ints...), g.word()
	if strings.HasPrefix(w, "'") {
		w = n
	}
	args := append([]string(nil), g.ints...)
	text := fmt.Sprintf("select %s, %s, count(*), %s(%s), count(distinct %s)%s from %s%s group by %s", n, w, g.one("sum", "min", "max", "avg"),
		g.one(args...), g.one(args...), g.one("", " filter (where "+g.one(args...)+" > 1)"), from, where, g.one(n+", "+w, "1, 2"))
	if g.chance(30) {
		text += fmt.Sprintf(" having %s(%s) %s %d", g.one("count", "max"), g.one(args...), g.one("<", ">"), g.rng.IntN(4))
	}
	return text + g.one("", " order by 1, 2, 3", " order by count(*) desc, 1 nulls first, 2")
}

func (g *generator) windowed(depth int) string {
	from := g.from(depth)
	n := g.one(g.ints...)
	return fmt.Sprintf("select %s, rank() over (order by %s), dense_rank() over (partition by %s order by %s desc), sum(%s) over (order by %s), "+
		"count(*) over (partition by %s) from %s", n, n, g.one(g.ints...), n, g.one(g.ints...), n, n, from)
}

// statement returns a complete statement.
func (g *generator) statement() string {
	switch g.rng.IntN(7) {
	case 0, 1:
		return tables + g.grouped(2)
	case 2:
		left, right := g.plain(1, false), ""
		g.ints, g.texts = nil, nil
		right = g.plain(1, false)
		return fmt.Sprintf("%s%s %s%s %s%s", tables, left, g.one("union", "intersect", "except"), g.one("", " all"), right,
			g.one("", " order by 1, 2", " order by 2 desc, 1"))
	case 3:
		return tables + g.windowed(1)
	case 4:
		text := g.plain(2, false)
		return tables + strings.Replace(text, "select ", g.one("select distinct ", "select "), 1) + g.one(" order by 1, 2", " order by 2 desc nulls last, 1")
	case 5:
		return tables + g.plain(2, false) + " order by 1, 2 limit " + fmt.Sprint(g.rng.IntN(5)) + g.one("", " offset 1")
	}
	return tables + g.plain(2, false)
}
