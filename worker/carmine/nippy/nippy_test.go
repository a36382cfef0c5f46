package nippy

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"flag"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// recorded calls f with the columns of each line of a recording. testdata/record.clj describes the
// columns.
func recorded(tb testing.TB, path string, f func(columns []string)) {
	tb.Helper()
	file, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	lines := bufio.NewScanner(plain)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		f(strings.Split(lines.Text(), "\t"))
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
}

func recordings(tb testing.TB) []string {
	tb.Helper()
	paths, err := filepath.Glob("testdata/frozen-*.gz")
	if err != nil || len(paths) < 5 {
		tb.Fatalf("recordings %q, %v", paths, err)
	}
	return paths
}

func unbase64(tb testing.TB, text string) []byte {
	tb.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// said returns the kind and the content of a value in the form of record.clj.
func said(v any) (string, []byte, error) {
	switch v := v.(type) {
	case string:
		return "text", []byte(v), nil
	case []byte:
		return "bytes", v, nil
	}
	b, err := AppendJSON(nil, v)
	return "json", b, err
}

// TestRecorded checks that data frozen by five versions of the real Nippy thaws to the values that
// Clojure recorded.
func TestRecorded(t *testing.T) {
	for _, path := range recordings(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			lines := 0
			recorded(t, path, func(c []string) {
				lines++
				frozen := unbase64(t, c[3])
				v, err := Thaw(frozen)
				if c[1] == "refused" {
					if !errors.Is(err, ErrUnsupported) {
						t.Errorf("%s: %v, %v; it is not to be read", c[0], v, err)
					}
					return
				}
				if err != nil {
					t.Errorf("%s: %v", c[0], err)
					return
				}
				kind, content, err := said(v)
				if want := unbase64(t, c[2]); err != nil || kind != c[1] || !bytes.Equal(content, want) {
					t.Errorf("%s: %s %.200q, %v; want %s %.200q", c[0], kind, content, err, c[1], want)
				}
				same(t, c[0], v)
			})
			if lines < 50 {
				t.Errorf("%d lines", lines)
			}
		})
	}
}

// same freezes a thawed value, if the package can freeze its type, and compares the result of
// thawing it again.
func same(t *testing.T, name string, v any) {
	t.Helper()
	frozen, err := Freeze(v)
	if errors.Is(err, ErrUnsupported) {
		return
	}
	again, err2 := Thaw(frozen)
	if err != nil || err2 != nil || !reflect.DeepEqual(again, v) {
		t.Errorf("%s: frozen and thawed again it is %.200v, %v, %v; was %.200v", name, again, err, err2, v)
	}
}

var writeFrozen = flag.String("write-frozen", "", "write there what Go freezes, for testdata/record.clj")

var fromGo = []any{
	nil, true, false, "", "text", "\x00>x", "hä ☃ 𝄞", []byte{}, []byte{0, 255, 78}, int64(0), int64(-1), int64(math.MaxInt64), int64(math.MinInt64), 7,
	1.5, -0.25, float32(0.5), Keyword("a"), Keyword("b.c/d"), Keyword(strings.Repeat("k", 200)), Symbol("f/g"), Char('☃'),
	big.NewInt(0), big.NewInt(128), big.NewInt(-128), big.NewInt(-129), new(big.Int).Lsh(big.NewInt(-3), 70), big.NewRat(-22, 7),
	Decimal{big.NewInt(-123), 2}, time.UnixMilli(1700000000123), UUID{0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff},
	[]any{}, []any{int64(1), []any{"x"}}, Set{Keyword("s")}, Map{}, Map{{Keyword("to"), "ann"}, {"n", int64(3)}},
}

// TestFrozen checks that the output of Freeze is identical to data that five versions of the real
// Nippy thawed to the expected values.
func TestFrozen(t *testing.T) {
	if *writeFrozen != "" {
		var b strings.Builder
		for _, v := range fromGo {
			frozen, _ := Freeze(v)
			b.WriteString(base64.StdEncoding.EncodeToString(frozen) + "\n")
		}
		if err := os.WriteFile(*writeFrozen, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	paths, err := filepath.Glob("testdata/thawed-*.gz")
	if err != nil || len(paths) < 4 {
		t.Fatalf("recordings %q, %v", paths, err)
	}
	var first [][]string
	for _, path := range paths {
		var lines [][]string
		recorded(t, path, func(c []string) { lines = append(lines, c) })
		if len(lines) != len(fromGo) {
			t.Fatalf("%s has %d lines", path, len(lines))
		}
		if first == nil {
			first = lines
		}
		for i, v := range fromGo {
			frozen, err := Freeze(v)
			if err != nil || base64.StdEncoding.EncodeToString(frozen) != lines[i][0] {
				t.Errorf("%s: %v is frozen as %q, %v; Nippy thawed %s", path, v, frozen, err, lines[i][0])
			}
			if lines[i][1] != first[i][1] {
				t.Errorf("%s: %v is %s there, and %s in another version", path, v, lines[i][1], first[i][1])
			}
		}
	}
	want := []string{"nil", "true", "false", `""`, `"text"`}
	for i, w := range want {
		if first[i][1] != w {
			t.Errorf("%v is %s to Clojure", fromGo[i], first[i][1])
		}
	}
	if got := first[len(fromGo)-1][1]; got != `{:to "ann", "n" 3}` {
		t.Errorf("the map is %s to Clojure", got)
	}
}

// TestRefused checks that every refused input has the right kind of error, and that none needs much
// memory.
func TestRefused(t *testing.T) {
	deep := append([]byte("NPY\x00"), bytes.Repeat([]byte{113, 3}, 2000)...)
	bomb := []byte("NPY\x00") // each cached value contains the previous one twice
	for i := range 40 {
		bomb = append(bomb, 21, 0, 0, 0, 2, 67, byte(i))
	}
	bomb = append(bomb, 3)
	for i := range 40 {
		bomb = append(bomb, 67, byte(39-i))
	}
	for name, c := range map[string]struct {
		frozen string
		want   error
	}{
		"nothing":            {"", ErrMalformed},
		"no header":          {"i\x01x", ErrMalformed},
		"a header alone":     {"NPY\x00", ErrMalformed},
		"an unknown header":  {"NPY\x63\x03", ErrMalformed},
		"an unknown type":    {"NPY\x00\x7c", ErrMalformed},
		"cut off":            {"NPY\x00i\x07{", ErrMalformed},
		"a negative length":  {"NPY\x00i\xff{", ErrMalformed},
		"a long string":      {"NPY\x00\x0d\x7f\xff\xff\xff", ErrMalformed},
		"a long vector":      {"NPY\x00\x15\x7f\xff\xff\xff\x03", ErrMalformed},
		"a long array":       {"NPY\x00\x77\x10\x00\x00\x00\x03", ErrMalformed},
		"a big lz4":          {"NPY\x08\x01\x00\x00\x00\x10x", ErrMalformed},
		"a wrong lz4":        {"NPY\x08\x00\x00\x00\x09\xff\xff", ErrMalformed},
		"a big snappy":       {"NPY\x01\xff\xff\xff\x0f\x00", ErrMalformed},
		"a wrong zstd":       {"NPY\x14xxxxxxxx", ErrMalformed},
		"nothing under":      {"NPY\x00\x46\x00\x00\x00\x01\x01\x00\x00\x00\x01\x00", ErrMalformed},
		"a URI of a number":  {"NPY\x00\x47\x00", ErrMalformed},
		"deep":               {string(deep), ErrMalformed},
		"encrypted":          {"NPY\x0exxxx", ErrUnsupported},
		"own compression":    {"NPY\x05xxxx", ErrUnsupported},
		"a custom type":      {"NPY\x00\xff", ErrUnsupported},
		"a named type":       {"NPY\x00\x52\x12\x34", ErrUnsupported},
		"a deftype of 3.7":   {"NPY\x00\x7a", ErrUnsupported},
		"half a custom type": {"NPY\x00\x52", ErrUnsupported},
	} {
		if v, err := Thaw([]byte(c.frozen)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
	v, err := Thaw(bomb)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := AppendJSON(nil, v); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a value that grows with its cache: %v", err)
	}
	for name, v := range map[string]any{
		"no number": math.NaN(), "without an end": math.Inf(-1), "alike": Map{{"a", nil}, {Keyword("a"), nil}}, "a collection": Map{{[]any{}, nil}},
	} {
		if b, err := AppendJSON(nil, v); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %s, %v", name, b, err)
		}
	}
	for _, v := range []any{struct{}{}, Char(0x1F600), []any{make(chan int)}} {
		if b, err := Freeze(v); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%v: %q, %v", v, b, err)
		}
	}
}

// TestJSON checks that JSON becomes what a Clojure program expects, and survives the round trip.
func TestJSON(t *testing.T) {
	for _, text := range []string{
		`{"n":3,"to":"ann"}`, `[1,-2.5,true,null,"x",{}]`, `12345678901234567890123`, `2.0`, `"text"`, `{"a/b":{"c":[]}}`,
	} {
		v, err := FromJSON([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if again, err := AppendJSON(nil, v); err != nil || string(again) != text {
			t.Errorf("%s became %s, %v", text, again, err)
		}
		same(t, text, v)
	}
	if v, _ := FromJSON([]byte(`{"to":"ann"}`)); !reflect.DeepEqual(v, Map{{Keyword("to"), "ann"}}) {
		t.Errorf("%#v", v)
	}
	for _, text := range []string{"", "{", "1 2", "1e999"} {
		if v, err := FromJSON([]byte(text)); err == nil {
			t.Errorf("%q is %v", text, v)
		}
	}
}

// FuzzThaw checks that no input causes a panic or excessive memory, that every thawed value has a
// JSON form or an error, and that every value that can be frozen survives the round trip.
func FuzzThaw(f *testing.F) {
	for _, path := range recordings(f) {
		recorded(f, path, func(c []string) {
			if frozen := unbase64(f, c[3]); len(frozen) < 4096 {
				f.Add(frozen)
			}
		})
	}
	f.Fuzz(func(t *testing.T, frozen []byte) {
		v, err := Thaw(frozen)
		if err != nil {
			if !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrUnsupported) {
				t.Errorf("an error of no kind: %v", err)
			}
			return
		}
		b, err := AppendJSON(nil, v)
		if err != nil && !errors.Is(err, ErrUnsupported) {
			t.Errorf("an error of no kind: %v", err)
		}
		if err == nil {
			if _, err := FromJSON(b); err != nil && !errors.Is(err, ErrMalformed) {
				t.Errorf("%q is no JSON: %v", b, err)
			}
		}
		if again, err := Freeze(v); err == nil {
			if w, err := Thaw(again); err != nil {
				t.Errorf("%#v is frozen as %q, which is %v, %v", v, again, w, err)
			}
		}
	})
}
