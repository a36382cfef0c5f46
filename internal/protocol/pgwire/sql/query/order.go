package query

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// sortKey is one item of ORDER BY.
type sortKey struct {
	e          expr.Expr
	typ        *value.Type
	descending bool
	nullsFirst bool
}

func newSortKey(e expr.Expr, n *pg.SortBy) sortKey {
	k := sortKey{e: e, typ: e.Type(), descending: n.SortbyDir == pg.SortByDir_SORTBY_DESC}
	if n.SortbyDir == pg.SortByDir_SORTBY_USING {
		k.descending = tree.LastName(n.UseOp) == ">"
	}
	k.nullsFirst = k.descending
	switch n.SortbyNulls {
	case pg.SortByNulls_SORTBY_NULLS_FIRST:
		k.nullsFirst = true
	case pg.SortByNulls_SORTBY_NULLS_LAST:
		k.nullsFirst = false
	}
	return k
}

func evalKeys(keys []sortKey, env *expr.Env) ([]value.Datum, error) {
	vals := make([]value.Datum, len(keys))
	for i, k := range keys {
		d, err := k.e.Eval(env)
		if err != nil {
			return nil, err
		}
		vals[i] = d
	}
	return vals, nil
}

// compareKeys compares two lists of key values.
func compareKeys(keys []sortKey, a, b []value.Datum) (int, error) {
	for i, k := range keys {
		c, err := k.compare(a[i], b[i])
		if c != 0 || err != nil {
			return c, err
		}
	}
	return 0, nil
}

func (k sortKey) compare(a, b value.Datum) (int, error) {
	if a == nil || b == nil {
		switch {
		case a == nil && b == nil:
			return 0, nil
		case (a == nil) == k.nullsFirst:
			return -1, nil
		}
		return 1, nil
	}
	c, err := value.Compare(k.typ, a, b)
	if k.descending {
		c = -c
	}
	return c, err
}

// sortBy sorts items by the keys that of returns. The sort is stable.
func sortBy[T any](items []T, keys []sortKey, of func(T) []value.Datum) error {
	var failed error
	slices.SortStableFunc(items, func(a, b T) int {
		c, err := compareKeys(keys, of(a), of(b))
		if err != nil && failed == nil {
			failed = err
		}
		return c
	})
	return failed
}
