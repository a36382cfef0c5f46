package catalog

import (
	"reflect"

	"fiveways.dev/fiveways/internal/core/message"
)

// firstDifference compares the named arguments of two declarations. Integers of different widths
// are equal if their values are. received and current are nil if the argument is missing.
func firstDifference(received, current message.Table, names []string) (name string, r, c any, same bool) {
	for _, name := range names {
		r, hasR := received.Get(name)
		c, hasC := current.Get(name)
		if !hasR && !hasC || hasR && hasC && sameValue(r, c) {
			continue
		}
		if !hasR {
			r = nil
		}
		if !hasC {
			c = nil
		}
		return name, r, c, false
	}
	return "", nil, nil, true
}

func sameValue(a, b any) bool {
	x, okX := message.Int(a)
	y, okY := message.Int(b)
	if okX && okY {
		return x == y
	}
	return reflect.DeepEqual(a, b)
}
