package catalog

import (
	"sync"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Every relation has a row type and an array type of that. Most of these types have no values; they
// exist for tools that load the types of all relations.

// typedRelations maps relations to the composite types that have values.
var typedRelations = sync.OnceValue(func() map[uint32]*value.Type {
	all := map[uint32]*value.Type{}
	for _, t := range value.All() {
		if t.Relation != 0 {
			all[t.Relation] = t
		}
	}
	return all
})

// rowType returns the OID of the row type of a relation.
func rowType(schema, name string, relation uint32) uint32 {
	if t := typedRelations()[relation]; t != nil {
		return t.OID
	}
	return hashOID("row type " + schema + "." + name)
}

func rowTypeOf(o object) uint32 { return rowType(o.schema, o.Name(), o.OID()) }

func rowArrayOf(o object) uint32 { return hashOID("row array " + o.schema + "." + o.Name()) }

// ofRows returns the relation that has the given row type. array reports whether id is the array
// type.
func (c *Catalog) ofRows(env *expr.Env, id uint32) (o object, array, ok bool) {
	if at, found := c.now(env).rowTypes[id]; found {
		o = c.objects.relations[at]
		return o, rowArrayOf(o) == id, true
	}
	return object{}, false, false
}

// indexRows indexes the row types without values.
func (o *objects) indexRows() {
	o.rowTypes = map[uint32]int{}
	for i, r := range o.relations {
		if typedRelations()[r.OID()] == nil {
			o.rowTypes[rowTypeOf(r)], o.rowTypes[rowArrayOf(r)] = i, i
		}
	}
}

// nameOfRows returns the name that format_type shows for a row type.
func nameOfRows(o object, array bool) string {
	name := qualified(o.schema, o.Name())
	if array {
		name += "[]"
	}
	return name
}

func fillRowTypes(c *Catalog, env *expr.Env, want wanted, emit func(cells)) {
	row := func(o object, id uint32, name string, io typeIO) cells {
		return cells{
			"oid": oid(id), "typname": name, "typnamespace": oid(namespaceOID(o.schema)), "typowner": c.ownerOID(), "typlen": int64(-1),
			"typisdefined": true, "typdelim": ",", "typinput": io.in.oid, "typoutput": io.out.oid, "typreceive": io.recv.oid, "typsend": io.send.oid,
			"typalign": "d", "typstorage": "x", "typtypmod": int64(-1),
		}
	}
	for _, o := range c.now(env).relations {
		if typedRelations()[o.OID()] != nil {
			continue
		}
		if !want(rowTypeOf(o), o.Name()) && !want(rowArrayOf(o), "_"+o.Name()) {
			continue
		}
		whole := row(o, rowTypeOf(o), o.Name(), recordIO)
		whole["typtype"], whole["typcategory"], whole["typrelid"], whole["typarray"] = "c", "C", oid(o.OID()), oid(rowArrayOf(o))
		emit(whole)
		array := row(o, rowArrayOf(o), "_"+o.Name(), arrayIO)
		array["typtype"], array["typcategory"], array["typelem"], array["typsubscript"] = "b", "A", oid(rowTypeOf(o)), int64(oidArraySubscript)
		emit(array)
	}
}
