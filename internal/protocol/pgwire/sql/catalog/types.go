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

func fillTypes(c *Catalog, env *expr.Env, want wanted, emit func(cells)) {
	fillRowTypes(c, env, want, emit)
	for _, t := range sortedTypes() {
		if !want(t.OID, t.Name) {
			continue
		}
		io := ioOf(t)
		row := cells{
			"oid": oid(t.OID), "typname": t.Name, "typnamespace": oid(namespaceOID(t.Schema)), "typowner": c.ownerOID(), "typlen": int64(t.Len),
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

func fillOperators(c *Catalog, _ *expr.Env, emit func(cells)) {
	for _, o := range builtin.Library.AllOperators() {
		row := cells{
			"oid": oid(o.OID), "oprname": o.Name, "oprnamespace": oid(oidPgCatalog), "oprowner": c.ownerOID(), "oprkind": "b",
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

func fillCollations(c *Catalog, _ *expr.Env, emit func(cells)) {
	for _, k := range []struct {
		oid      uint32
		name     string
		provider string
	}{{oidDefaultCollation, "default", "d"}, {950, "C", "c"}, {951, "POSIX", "c"}} {
		emit(cells{
			"oid": oid(k.oid), "collname": k.name, "collnamespace": oid(oidPgCatalog), "collowner": c.ownerOID(), "collprovider": k.provider,
			"collisdeterministic": true, "collencoding": int64(-1), "collcollate": k.name, "collctype": k.name,
		})
	}
}
