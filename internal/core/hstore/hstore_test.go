package hstore

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// texts are inputs with the results of PostgreSQL 15.
var texts = []struct{ in, out, fails string }{
	{in: ``}, {in: `  `},
	{in: `a=>1`, out: `"a"=>"1"`},
	{in: `a=>1,`, out: `"a"=>"1"`}, {in: `a=>1, `, out: `"a"=>"1"`},
	{in: `a=>1,,b=>2`, out: `"a"=>"1", ",b"=>"2"`},
	{in: `a=>NULL, b=>"NULL", c=>nULl, "NULL"=>1, d=> NULLx`, out: `"a"=>NULL, "b"=>"NULL", "c"=>NULL, "d"=>"NULLx", "NULL"=>"1"`},
	{in: `a=>=b`, out: `"a"=>"=b"`}, {in: `a=>,b=>1`, out: `"a"=>",b=>1"`},
	{in: `a"b"=>1"x"`, out: `"a\"b\""=>"1\"x\""`},
	{in: `a\=>b=>\"`, out: `"a=>b"=>"\""`},
	{in: `aa=>1,b=>2,a=>3,a=>4,c=>1`, out: `"a"=>"3", "b"=>"2", "c"=>"1", "aa"=>"1"`},
	{in: `""=>""`, out: `""=>""`},
	{in: `  a  =>  b  ,  c=>d  `, out: `"a"=>"b", "c"=>"d"`}, {in: "a\n=>\tb", out: `"a"=>"b"`},
	{in: `"a\"b\\"=>"x, y"`, out: `"a\"b\\"=>"x, y"`},
	{in: `a=>\null`, out: `"a"=>NULL`},
	{in: `a`, fails: `Unexpected end of string`}, {in: `a=>`, fails: `Unexpected end of string`},
	{in: `"a`, fails: `Unexpected end of string`}, {in: `,`, fails: `Unexpected end of string`},
	{in: `a=>"x`, fails: `Unexpected end of string`}, {in: `a\`, fails: `Unexpected end of string`},
	{in: `a=>1\`, fails: `Unexpected end of string`}, {in: `"a\`, fails: `Unexpected end of string`},
	{in: `a=>1 b`, fails: `Syntax error near "b" at position 5`}, {in: `a=b`, fails: `Syntax error near "b" at position 2`},
	{in: `=>a`, fails: `Syntax error near "=" at position 0`}, {in: `a = > b`, fails: `Syntax error near " " at position 3`},
	{in: `"a"b=>1`, fails: `Syntax error near "b" at position 3`}, {in: `é=é`, fails: `Syntax error near "é" at position 3`},
	{in: `aéé=>1 é`, fails: `Syntax error near "é" at position 9`},
}

func TestText(t *testing.T) {
	for _, c := range texts {
		m, err := Parse(c.in)
		if c.fails != "" {
			if err == nil || err.Error() != c.fails {
				t.Errorf("%q: error %v, want %s", c.in, err, c.fails)
			}
			continue
		}
		if err != nil || m.String() != c.out {
			t.Errorf("%q: %s, %v, want %s", c.in, m, err, c.out)
		}
	}
}

func must(t *testing.T, s string) Map {
	t.Helper()
	m, err := Parse(s)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return m
}

func TestOperators(t *testing.T) {
	m := must(t, `a=>1, b=>NULL, cc=>x`)
	for _, c := range []struct {
		what string
		got  Map
		want string
	}{
		{"concat", m.Concat(must(t, `b=>2,d=>4`)), `"a"=>"1", "b"=>"2", "d"=>"4", "cc"=>"x"`},
		{"concat nothing", m.Concat(nil), `"a"=>"1", "b"=>NULL, "cc"=>"x"`},
		{"concat to nothing", Map(nil).Concat(m), `"a"=>"1", "b"=>NULL, "cc"=>"x"`},
		{"delete", m.Delete("a"), `"b"=>NULL, "cc"=>"x"`},
		{"delete what is not there", m.Delete("z"), m.String()},
		{"delete keys", m.DeleteKeys([]string{"a", "cc", "z"}), `"b"=>NULL`},
		{"delete pairs", m.DeletePairs(must(t, `a=>1,b=>"",cc=>y`)), `"b"=>NULL, "cc"=>"x"`},
		{"delete null pair", m.DeletePairs(must(t, `b=>NULL`)), `"a"=>"1", "cc"=>"x"`},
		{"slice", m.Slice([]string{"cc", "b", "b", "z"}), `"b"=>NULL, "cc"=>"x"`},
	} {
		if got := c.got.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
	for what, ok := range map[string]bool{
		"exists": m.Exists("b"), "not exists": !m.Exists("z"), "defined": m.Defined("a"), "not defined": !m.Defined("b"),
		"any": m.ExistsAny([]string{"z", "b"}), "not any": !m.ExistsAny(nil),
		"all": m.ExistsAll([]string{"a", "b"}), "all of none": m.ExistsAll(nil), "not all": !m.ExistsAll([]string{"a", "z"}),
		"contains": m.Contains(must(t, `b=>NULL,a=>1`)), "contains nothing": m.Contains(nil), "not contains": !m.Contains(must(t, `b=>""`)),
		"keys": slices.Equal(m.Keys(), []string{"a", "b", "cc"}),
	} {
		if !ok {
			t.Errorf("%s does not hold of %s", what, m)
		}
	}
}

// TestCompare has values in the order of PostgreSQL 15, each greater than the one before.
func TestCompare(t *testing.T) {
	ordered := []string{``, `""=>""`, `""=>NULL`, `a=>""`, `a=>NULL`, `a=>1`, `a=>1b2`, `a1=>b2`, `a=>1,b=>2`, `ab=>1`, `b=>1`}
	for i, a := range ordered {
		for j, b := range ordered {
			want := min(max(i-j, -1), 1)
			if got := Compare(must(t, a), must(t, b)); got != want {
				t.Errorf("compare %q with %q: %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestJSON(t *testing.T) {
	m := must(t, `a=>1,b=>t,c=>"1e5",d=>NULL,e=>"01",f=>f,g=>"-1.5",h=>"1.",i=>".5",j=>"0x1",k=>"NaN",l=>"+1",m=>" 1",n=>"",o=>"x\"y"`)
	want := `{"a": 1, "b": true, "c": 1e5, "d": null, "e": "01", "f": false, "g": -1.5, "h": "1.", "i": ".5", "j": "0x1", "k": "NaN", ` +
		`"l": "+1", "m": " 1", "n": "", "o": "x\"y"}`
	if got := string(m.AppendJSON(nil, true)); got != want {
		t.Errorf("loose: %s", got)
	}
	if got, want := string(must(t, "a=>1,b=>NULL,c=>\"\t\x01\"").AppendJSON(nil, false)), `{"a": "1", "b": null, "c": "\t\u0001"}`; got != want {
		t.Errorf("strict: %s, want %s", got, want)
	}
}

func TestBinary(t *testing.T) {
	const bytes = "\x00\x00\x00\x02\x00\x00\x00\x01a\x00\x00\x00\x011\x00\x00\x00\x02bb\xff\xff\xff\xff"
	m := must(t, `bb=>NULL,a=>1`)
	if got := string(m.AppendBinary(nil)); got != bytes {
		t.Errorf("written %q, want %q", got, bytes)
	}
	if got, err := ParseBinary([]byte(bytes)); err != nil || !got.Equal(m) {
		t.Errorf("read %s, %v", got, err)
	}
	for in, want := range map[string]error{
		"": ErrTruncated, "\x00\x00\x00\x01": ErrTruncated, "\xff\xff\xff\xff": ErrCount, bytes + "x": ErrTrailing, "\x7f\xff\xff\xff": ErrTruncated,
		"\x00\x00\x00\x01\xff\xff\xff\xff\x00\x00\x00\x00":        ErrNullKey,
		"\x00\x00\x00\x01\x00\x00\x00\x01\xff\x00\x00\x00\x00":    TextError("\xff"),
		"\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00":    TextError("\x00"),
		"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x05\x00abc": ErrTruncated,
	} {
		if _, err := ParseBinary([]byte(in)); err != want {
			t.Errorf("%q: %v, want %v", in, err, want)
		}
	}
}

// TestTwin compares every operator with a Go map.
func TestTwin(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	type value struct {
		text string
		null bool
	}
	random := func() (Map, map[string]value) {
		twin := map[string]value{}
		var pairs []Pair
		for range rng.IntN(20) {
			p := Pair{Key: string("abc\"\\ ,=é"[:rng.IntN(9)]), Null: rng.IntN(4) == 0}
			p.Key += string(rune('a' + rng.IntN(9)))
			if !p.Null {
				p.Value = string("=>NULL\""[:rng.IntN(7)])
			}
			if _, ok := twin[p.Key]; !ok {
				twin[p.Key] = value{p.Value, p.Null}
			}
			pairs = append(pairs, p)
		}
		return New(pairs), twin
	}
	same := func(what string, m Map, twin map[string]value) {
		t.Helper()
		again, err := Parse(m.String())
		if err != nil || !again.Equal(m) || Compare(again, m) != 0 {
			t.Fatalf("seed %d: %s: %s reads back as %s, %v", seed, what, m, again, err)
		}
		if len(m) != len(twin) {
			t.Fatalf("seed %d: %s: %s, want %v", seed, what, m, twin)
		}
		for key, v := range twin {
			if p, ok := m.Get(key); !ok || p.Value != v.text || p.Null != v.null {
				t.Fatalf("seed %d: %s: %s, want %v", seed, what, m, twin)
			}
		}
	}
	for range 2000 {
		a, twinA := random()
		b, twinB := random()
		same("new", a, twinA)
		both, slice, less := map[string]value{}, map[string]value{}, map[string]value{}
		for k, v := range twinA {
			both[k] = v
			if o, ok := twinB[k]; ok {
				slice[k] = v
				if o != v {
					less[k] = v
				}
			} else {
				less[k] = v
			}
		}
		for k, v := range twinB {
			both[k] = v
		}
		same("concat", a.Concat(b), both)
		same("slice", a.Slice(b.Keys()), slice)
		same("delete pairs", a.DeletePairs(b), less)
		if !a.Concat(b).Contains(b) || a.ExistsAll(b.Keys()) != (len(slice) == len(twinB)) || a.ExistsAny(b.Keys()) != (len(slice) > 0) {
			t.Fatalf("seed %d: %s and %s", seed, a, b)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range texts {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := Parse(s)
		if err != nil {
			return
		}
		again, err := Parse(m.String())
		if err != nil || !again.Equal(m) {
			t.Fatalf("%q is %s, which reads back as %s, %v", s, m, again, err)
		}
	})
}

func FuzzParseBinary(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02\x00\x00\x00\x01a\x00\x00\x00\x011\x00\x00\x00\x02bb\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseBinary(b)
		if err != nil {
			return
		}
		again, err := ParseBinary(m.AppendBinary(nil))
		if err != nil || !again.Equal(m) {
			t.Fatalf("%q is %s, which reads back as %s, %v", b, m, again, err)
		}
	})
}
