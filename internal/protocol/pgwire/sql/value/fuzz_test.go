package value

import "testing"

// FuzzParse parses any text as any type. It must not panic, and a parsed value must survive
// formatting and parsing.
func FuzzParse(f *testing.F) {
	for i, c := range texts {
		f.Add(i, c.in)
	}
	set := Defaults()
	f.Fuzz(func(t *testing.T, which int, s string) {
		if which < 0 || which >= len(texts) {
			return
		}
		typ := texts[which].t
		d, err := Parse(typ, s, &set)
		if err != nil {
			return
		}
		again, err := Parse(typ, String(typ, d, &set), &set)
		if err != nil || string(AppendKey(nil, typ, again)) != string(AppendKey(nil, typ, d)) {
			t.Fatalf("%s %q is %q, which reads back as %v, %v", typ, s, String(typ, d, &set), again, err)
		}
	})
}

// FuzzParseBinary parses any bytes as any type.
func FuzzParseBinary(f *testing.F) {
	set := Defaults()
	for i, c := range texts {
		if d, err := Parse(c.t, c.in, &set); err == nil {
			b, _ := AppendBinary(nil, c.t, d)
			f.Add(i, b)
		}
	}
	f.Fuzz(func(t *testing.T, which int, b []byte) {
		if which < 0 || which >= len(texts) {
			return
		}
		typ := texts[which].t
		d, err := ParseBinary(typ, b)
		if err != nil {
			return
		}
		out, err := AppendBinary(nil, typ, d)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseBinary(typ, out)
		if err != nil || string(AppendKey(nil, typ, again)) != string(AppendKey(nil, typ, d)) {
			t.Fatalf("%s %x is written as %x and reads back as %v, %v", typ, b, out, again, err)
		}
	})
}
