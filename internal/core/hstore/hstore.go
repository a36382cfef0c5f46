// Package hstore implements PostgreSQL's hstore: a map from text to text or NULL, with its text
// form, its binary form and its operators.
package hstore

import (
	"cmp"
	"slices"
	"strings"
)

// Map is an hstore value: its pairs in PostgreSQL's order (shorter keys first, then by bytes), each
// key once. It is immutable. A nil Map is empty.
type Map []Pair

// Pair is one key and its value.
type Pair struct {
	Key   string
	Value string
	Null  bool // the value is NULL, and Value is empty
}

// New returns a Map of pairs in any order, and takes ownership of the slice. If a key occurs more
// than once, the first pair is kept.
func New(pairs []Pair) Map {
	ordered := true
	for i := range pairs {
		if pairs[i].Null {
			pairs[i].Value = ""
		}
		ordered = ordered && (i == 0 || compareKeys(pairs[i-1].Key, pairs[i].Key) < 0)
	}
	if ordered {
		return pairs
	}
	slices.SortStableFunc(pairs, func(a, b Pair) int { return compareKeys(a.Key, b.Key) })
	return slices.CompactFunc(pairs, func(a, b Pair) bool { return a.Key == b.Key })
}

func compareKeys(a, b string) int {
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	return strings.Compare(a, b)
}

// short is the number of pairs up to which a linear search is faster than a binary search.
const short = 8

func (m Map) index(key string) (int, bool) {
	if len(m) > short {
		return slices.BinarySearchFunc(m, key, func(p Pair, key string) int { return compareKeys(p.Key, key) })
	}
	for i := range m {
		if m[i].Key == key {
			return i, true
		}
	}
	return 0, false
}

// Get returns the pair of a key; ok is false if there is none.
func (m Map) Get(key string) (p Pair, ok bool) {
	i, ok := m.index(key)
	if !ok {
		return Pair{}, false
	}
	return m[i], true
}

// Exists is the operator ?.
func (m Map) Exists(key string) bool {
	_, ok := m.index(key)
	return ok
}

// Defined reports whether the key has a value that is not NULL.
func (m Map) Defined(key string) bool {
	p, ok := m.Get(key)
	return ok && !p.Null
}

// ExistsAny is the operator ?|.
func (m Map) ExistsAny(keys []string) bool { return slices.ContainsFunc(keys, m.Exists) }

// ExistsAll is the operator ?&; true for no keys.
func (m Map) ExistsAll(keys []string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool { return !m.Exists(key) })
}

// Contains is the operator @>: m has every pair of b.
func (m Map) Contains(b Map) bool {
	return !slices.ContainsFunc(b, func(p Pair) bool { return !m.has(p) })
}

func (m Map) has(p Pair) bool {
	mine, ok := m.Get(p.Key)
	return ok && mine == p
}

// Concat is the operator ||: the pairs of both. For a key in both, b's pair is used.
func (m Map) Concat(b Map) Map {
	if len(m) == 0 {
		return b
	}
	if len(b) == 0 {
		return m
	}
	all := make(Map, 0, len(m)+len(b))
	for i, j := 0, 0; i < len(m) || j < len(b); {
		order := -1
		if i == len(m) {
			order = 1
		} else if j < len(b) {
			order = compareKeys(m[i].Key, b[j].Key)
		}
		if order < 0 {
			all = append(all, m[i])
			i++
			continue
		}
		all = append(all, b[j])
		j++
		if order == 0 {
			i++
		}
	}
	return all
}

func (m Map) without(drop func(Pair) bool) Map {
	kept := make(Map, 0, len(m))
	for _, p := range m {
		if !drop(p) {
			kept = append(kept, p)
		}
	}
	return kept
}

// Delete is the operator - with one key.
func (m Map) Delete(key string) Map {
	return m.without(func(p Pair) bool { return p.Key == key })
}

// DeleteKeys is the operator - with an array of keys.
func (m Map) DeleteKeys(keys []string) Map {
	return m.without(func(p Pair) bool { return slices.Contains(keys, p.Key) })
}

// DeletePairs is the operator - with another hstore: it removes the pairs that are equal in both.
func (m Map) DeletePairs(b Map) Map { return m.without(b.has) }

// Slice keeps the pairs with these keys.
func (m Map) Slice(keys []string) Map {
	return m.without(func(p Pair) bool { return !slices.Contains(keys, p.Key) })
}

// Keys returns the keys in order.
func (m Map) Keys() []string {
	keys := make([]string, len(m))
	for i, p := range m {
		keys[i] = p.Key
	}
	return keys
}

// Equal reports whether both have the same pairs.
func (m Map) Equal(b Map) bool { return slices.Equal(m, b) }

// Compare orders two values as PostgreSQL's btree does: an empty one first, then by the bytes of
// all keys and values in sequence, then by their boundaries.
func Compare(a, b Map) int {
	if len(a) == 0 || len(b) == 0 {
		return cmp.Compare(min(len(a), 1), min(len(b), 1))
	}
	if c := strings.Compare(a.strung(), b.strung()); c != 0 {
		return c
	}
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	for i := range a {
		c := cmp.Compare(len(a[i].Key), len(b[i].Key))
		if c == 0 {
			c = cmp.Compare(len(a[i].Value), len(b[i].Value))
		}
		if c == 0 && a[i].Null != b[i].Null {
			c = 1 // NULL is greater
			if b[i].Null {
				c = -1
			}
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

func (m Map) strung() string {
	var all strings.Builder
	for _, p := range m {
		all.WriteString(p.Key)
		all.WriteString(p.Value)
	}
	return all.String()
}
