package expr

import "fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"

// candidate is one of the functions or operators that a call may refer to. types are the declared
// types of the arguments in the order given.
type candidate struct {
	types []*value.Type
	call  *callShape // for a function
	op    *Operator
}

// matching returns the candidates that accept the given argument types.
func matching(actual []*value.Type, all []candidate) []candidate {
	var kept []candidate
	for _, c := range all {
		if canCoerce(actual, c.types, implicit) {
			kept = append(kept, c)
		}
	}
	return kept
}

// selectCandidate chooses among matching candidates: by the number of exact matches, then of
// preferred types, then by the categories of untyped constants, then by the single type of all
// other arguments. It returns nil if there is no best one. It follows func_select_candidate of
// PostgreSQL.
func selectCandidate(actual []*value.Type, all []candidate) *candidate {
	unknowns := 0
	for _, a := range actual {
		if a == value.Unknown {
			unknowns++
		}
	}
	all = best(all, func(c candidate) int { return exactMatches(actual, c.types, false) })
	if len(all) == 1 {
		return &all[0]
	}
	all = best(all, func(c candidate) int { return exactMatches(actual, c.types, true) })
	if len(all) == 1 {
		return &all[0]
	}
	if unknowns == 0 {
		return nil
	}
	all = byCategory(actual, all)
	if len(all) == 1 {
		return &all[0]
	}
	return byKnownType(actual, all, unknowns)
}

func best(all []candidate, score func(candidate) int) []candidate {
	most := -1
	var kept []candidate
	for _, c := range all {
		switch n := score(c); {
		case n > most:
			most, kept = n, []candidate{c}
		case n == most:
			kept = append(kept, c)
		}
	}
	return kept
}

func exactMatches(actual, declared []*value.Type, preferred bool) int {
	n := 0
	for i, a := range actual {
		if a == value.Unknown {
			continue
		}
		if a == declared[i] || preferred && declared[i].Category == a.Category && declared[i].Prefer {
			n++
		}
	}
	return n
}

// byCategory decides on a category for each untyped constant and drops candidates of other
// categories.
func byCategory(actual []*value.Type, all []candidate) []candidate {
	type slot struct {
		category byte
		prefer   bool
	}
	slots := make([]slot, len(actual))
	for i, a := range actual {
		if a != value.Unknown {
			continue
		}
		conflict := false
		s := &slots[i]
		for _, c := range all {
			t := c.types[i]
			switch {
			case s.category == 0:
				s.category, s.prefer = t.Category, t.Prefer
			case s.category == t.Category:
				s.prefer = s.prefer || t.Prefer
			case t.Category == 'S':
				s.category, s.prefer = 'S', t.Prefer
			default:
				conflict = true
			}
		}
		if conflict && s.category != 'S' {
			return all
		}
	}
	var kept []candidate
	for _, c := range all {
		keep := true
		for i, a := range actual {
			if a == value.Unknown && (c.types[i].Category != slots[i].category || slots[i].prefer && !c.types[i].Prefer) {
				keep = false
			}
		}
		if keep {
			kept = append(kept, c)
		}
	}
	if len(kept) == 0 {
		return all
	}
	return kept
}

// byKnownType assigns to untyped constants the single type of all other arguments, and returns the
// candidate if exactly one remains.
func byKnownType(actual []*value.Type, all []candidate, unknowns int) *candidate {
	if unknowns == len(actual) {
		return nil
	}
	var known *value.Type
	for _, a := range actual {
		if a == value.Unknown {
			continue
		}
		if known != nil && known != a {
			return nil
		}
		known = a
	}
	assumed := make([]*value.Type, len(actual))
	for i := range assumed {
		assumed[i] = known
	}
	kept := matching(assumed, all)
	if len(kept) != 1 {
		return nil
	}
	return &kept[0]
}
