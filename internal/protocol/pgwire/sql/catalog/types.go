package catalog

import (
	"cmp"
	"slices"
	"sync"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

var typeTables = map[string]filler{
	"pg_catalog.pg_enum":      fillLabels,
	"pg_catalog.pg_cast":      fillCasts,
	"pg_catalog.pg_operator":  fillOperators,
	"pg_catalog.pg_collation": fillCollations,
}

const oidArraySubscript = 6179

var sortedTypes = sync.OnceValue(func() []*value.Type {
	all := value.All()
	slices.SortFunc(all, func(a, b *value.Type) int { return cmp.Compare(a.OID, b.OID) })
	return all
})

func fillTypes(c *Catalog, env *expr.Env, wanted func(uint32) bool, emit func(cells)) {
	fillRowTypes(c, env, wanted, emit)
	for _, t := range sortedTypes() {
		if !wanted(t.OID) {
			continue
		}
		io := ioOf(t)
		row := cells{
			"oid": oid(t.OID), "typname": t.Name, "typnamespace": oid(namespaceOID(t.Schema)), "typowner": oid(oidOwner), "typlen": int64(t.Len),
			"typbyval": t.Len > 0 && t.Len <= 8, "typtype": string(t.Kind), "typcategory": string(t.Category), "typispreferred": t.Prefer,
			"typisdefined": true, "typdelim": ",", "typinput": io.in.oid, "typoutput": io.out.oid,
			"typreceive": io.recv.oid, "typsend": io.send.oid, "typalign": io.align, "typstorage": io.storage, "typtypmod": int64(-1),
			"typcollation": io.collation,
		}
		if t.Elem != nil {
			row["typelem"] = oid(t.Elem.OID)
			row["typsubscript"] = int64(oidArraySubscript)
		}
		if t.Array != nil {
			row["typarray"] = oid(t.Array.OID)
		}
		if t.Relation != 0 {
			row["typrelid"] = oid(t.Relation)
		}
		emit(row)
	}
}

func fillLabels(_ *Catalog, _ *expr.Env, emit func(cells)) {
	for _, t := range sortedTypes() {
		for i, label := range t.Labels {
			emit(cells{
				"oid": oid(hashOID("label " + t.Name + "." + label)), "enumtypid": oid(t.OID), "enumsortorder": float64(i + 1), "enumlabel": label,
			})
		}
	}
}

func fillCasts(_ *Catalog, _ *expr.Env, emit func(cells)) {
	next := uint32(11000)
	all := sortedTypes()
	for _, from := range all {
		for _, to := range all {
			kind := value.ListedCast(from, to)
			if kind == value.CastNone {
				continue
			}
			method := "f"
			if value.BinaryCoercible(from, to) {
				method = "b"
			}
			emit(cells{"oid": oid(next), "castsource": oid(from.OID), "casttarget": oid(to.OID), "castcontext": string(kind), "castmethod": method})
			next++
		}
	}
}

func fillOperators(_ *Catalog, _ *expr.Env, emit func(cells)) {
	for _, o := range builtin.Library.AllOperators() {
		row := cells{
			"oid": oid(o.OID), "oprname": o.Name, "oprnamespace": oid(oidPgCatalog), "oprowner": oid(oidOwner), "oprkind": "b",
			"oprright": oid(o.Right.OID), "oprresult": oid(o.Returns.OID),
		}
		if o.Left != nil {
			row["oprleft"] = oid(o.Left.OID)
		} else {
			row["oprkind"] = "l"
		}
		emit(row)
	}
}

const oidDefaultCollation = 100

func fillCollations(_ *Catalog, _ *expr.Env, emit func(cells)) {
	for _, c := range []struct {
		oid      uint32
		name     string
		provider string
	}{{oidDefaultCollation, "default", "d"}, {950, "C", "c"}, {951, "POSIX", "c"}} {
		emit(cells{
			"oid": oid(c.oid), "collname": c.name, "collnamespace": oid(oidPgCatalog), "collowner": oid(oidOwner), "collprovider": c.provider,
			"collisdeterministic": true, "collencoding": int64(-1), "collcollate": c.name, "collctype": c.name,
		})
	}
}
