package catalog

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// The input and output functions of the types of PostgreSQL 15, made by the query beside it. They
// are never called here, but drivers recognise arrays and composite types by them.
//
//go:embed pgdata/typeio.txt
var typeIOLines string

// proc is a function that only has a name and a number.
type proc struct {
	oid  int64
	name string
}

// typeIO is how a type is read, written and kept.
type typeIO struct {
	in, out, recv, send proc
	align, storage      string
	collation           int64
}

var (
	arrayIO  = typeIO{proc{750, "array_in"}, proc{751, "array_out"}, proc{2400, "array_recv"}, proc{2401, "array_send"}, "i", "x", 0}
	enumIO   = typeIO{proc{3506, "enum_in"}, proc{3507, "enum_out"}, proc{3532, "enum_recv"}, proc{3533, "enum_send"}, "i", "p", 0}
	recordIO = typeIO{proc{2290, "record_in"}, proc{2291, "record_out"}, proc{2402, "record_recv"}, proc{2403, "record_send"}, "d", "x", 0}
)

var typeIOs = sync.OnceValue(func() map[string]typeIO {
	all := map[string]typeIO{}
	for line := range strings.Lines(typeIOLines) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		at := func(i int) proc {
			n, _ := strconv.ParseInt(f[i], 10, 64)
			return proc{n, f[i+1]}
		}
		collation, _ := strconv.ParseInt(f[11], 10, 64)
		all[f[0]] = typeIO{at(1), at(3), at(5), at(7), f[9], f[10], collation}
	}
	return all
})

func ioOf(t *value.Type) typeIO {
	if io, ok := typeIOs()[t.Name]; ok {
		return io
	}
	switch {
	case t.IsArray():
		return arrayIO
	case t.IsEnum():
		return enumIO
	}
	return recordIO
}

// ioProcs are all functions by which types are read and written, each once, in the order of their
// numbers' first use.
var ioProcs = sync.OnceValue(func() (all []proc) {
	seen := map[int64]bool{0: true}
	for _, t := range sortedTypes() {
		io := ioOf(t)
		for _, p := range []proc{io.in, io.out, io.recv, io.send} {
			if !seen[p.oid] {
				seen[p.oid] = true
				all = append(all, p)
			}
		}
	}
	return all
})
