package charset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"fiveways.dev/fiveways/test/postgres"
)

var rewrite = flag.Bool("rewrite", false, "take the tables of PostgreSQL into exceptions.txt and testdata/sums.txt")

const sums = "testdata/sums.txt"

// table is the complete mapping of an encoding: characters by code and codes by character. It
// excludes characters beyond the basic multilingual plane. Only GB18030 has some, which it
// computes.
type table struct {
	decode map[uint32]rune
	encode map[rune]uint32
}

func newTable() table { return table{map[uint32]rune{}, map[rune]uint32{}} }

// sum returns a digest of the table.
func (t table) sum() string {
	h := sha256.New()
	for _, c := range sorted(t.decode) {
		fmt.Fprintf(h, "%x<%x\n", c, t.decode[c])
	}
	for _, r := range sorted(t.encode) {
		fmt.Fprintf(h, "%x>%x\n", r, t.encode[r])
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

func sorted[K ~uint32 | ~int32, V any](m map[K]V) []K {
	all := make([]K, 0, len(m))
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// convertible returns the encodings that have a table.
func convertible() (all []string) {
	for name := range singles {
		all = append(all, name)
	}
	for name := range multis {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// eachCode calls f with every possible character of e, of up to three bytes.
func (e *Encoding) eachCode(f func(c uint32, b []byte)) {
	highest := uint32(0xff)
	if e.length != nil {
		highest = 0xffff
	}
	if e.name == "EUC_JP" {
		highest = 0x8fffff
	}
	for c := uint32(0x80); c <= highest; c++ {
		if c == 0x10000 {
			c = 0x8f0000
		}
		b := appendCode(nil, c)
		n, ok := 1, true
		if e.length != nil && b[0] >= utf8.RuneSelf {
			n, ok = e.length(b)
		}
		if ok && n == len(b) && b[0] >= utf8.RuneSelf && code(b) == c {
			f(c, b)
		}
	}
}

func eachRune(f func(rune)) {
	for r := rune(0x80); r <= 0xffff; r++ {
		if utf8.ValidRune(r) {
			f(r)
		}
	}
}

// ours returns the table that the package implements.
func ours(e *Encoding) table {
	t := newTable()
	e.eachCode(func(c uint32, b []byte) {
		if r, ok := e.decodeOne(b); ok {
			t.decode[c] = r
		}
	})
	eachRune(func(r rune) {
		if b, ok := e.appendOne(nil, r); ok {
			t.encode[r] = code(b)
		}
	})
	return t
}

// TestTables compares every table with PostgreSQL's, by the digests in sums.txt.
func TestTables(t *testing.T) {
	if *rewrite {
		takeTables(t)
	}
	file, err := os.ReadFile(sums)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(string(file))
	for i, name := range convertible() {
		e, ok := ByName(name)
		if !ok {
			t.Fatalf("%s is not there", name)
		}
		if 2*i+1 >= len(want) || want[2*i] != name {
			t.Fatalf("%s is not in %s", name, sums)
		}
		if got := ours(e).sum(); got != want[2*i+1] {
			t.Errorf("%s: the table is not PostgreSQL's (%s, want %s)", name, got, want[2*i+1])
		}
	}
}

// takeTables reads PostgreSQL's tables and writes the differences to x/text.
func takeTables(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), postgres.Start(t, postgres.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	functions, err := os.ReadFile("testdata/tables.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), string(functions)); err != nil {
		t.Fatal(err)
	}
	var lines, digests strings.Builder
	for _, name := range convertible() {
		e, _ := ByName(name)
		plain := *e
		plain.exceptions = exceptions{}
		theirs := newTable()
		var codes []string
		e.eachCode(func(_ uint32, b []byte) { codes = append(codes, hex.EncodeToString(b)) })
		ask(t, conn, `select c, pg_temp.decoded(decode(c, 'hex'), $2::text) from unnest($1::text[]) c`, codes, name, func(c string, r *int) {
			n, _ := strconv.ParseUint(c, 16, 32)
			if r != nil {
				theirs.decode[uint32(n)] = rune(*r)
			}
		})
		ask(t, conn, `select pg_temp.encoded(r, $2::text), r from generate_series($1, 65535) r where r not between 55296 and 57343`, 0x80, name, func(c string, r *int) {
			if n, err := strconv.ParseUint(c, 16, 32); err == nil {
				theirs.encode[rune(*r)] = uint32(n)
			}
		})
		plain.exceptions.decode = writeRuns(&lines, name, decoding, ours(&plain).decode, theirs.decode)
		writeRuns(&lines, name, encoding, ours(&plain).encode, theirs.encode)
		fmt.Fprintln(&digests, name, theirs.sum())
	}
	for file, text := range map[string]string{"exceptions.txt": lines.String(), sums: digests.String()} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the tables are taken; run again without -rewrite")
}

func ask(t *testing.T, conn *pgx.Conn, query string, arg any, name string, f func(c string, r *int)) {
	t.Helper()
	rows, err := conn.Query(t.Context(), query, arg, name)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var c *string
		var r *int
		if err := rows.Scan(&c, &r); err != nil {
			t.Fatal(err)
		}
		if c != nil {
			f(*c, r)
		}
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
}

// writeRuns writes the differences between two sides of a table, and returns them.
func writeRuns[K, V ~uint32 | ~int32](b *strings.Builder, name, direction string, have, want map[K]V) (different map[K]V) {
	different = map[K]V{}
	for k, v := range want {
		if have[k] != v {
			different[k] = v
		}
	}
	for k := range have {
		if _, ok := want[k]; !ok {
			different[k] = 0
		}
	}
	keys := sorted(different)
	for i := 0; i < len(keys); {
		first, n := keys[i], 1
		to := different[first]
		for i+n < len(keys) && keys[i+n] == first+K(n) {
			if next := different[keys[i+n]]; to == 0 && next != 0 || to != 0 && next != to+V(n) {
				break
			}
			n++
		}
		fmt.Fprintf(b, "%s %s %x %x %x\n", name, direction, first, n, to)
		i += n
	}
	return different
}
