package libpgquery

import (
	"errors"
	"runtime"
	"testing"
)

func TestErrors(t *testing.T) {
	p := NewParser()
	for text, want := range map[string]Error{
		"select 'é' from from": {Code: "42601", Message: `syntax error at or near "from"`, Position: 17},
		"select (1":            {Code: "42601", Message: "syntax error at end of input", Position: 10},
		`select e'a\xff'`:      {Code: "22021", Message: `invalid byte sequence for encoding "UTF8": 0xff`},
		`select U&'\zzzz'`:     {Code: "42601", Message: "invalid Unicode escape", Hint: `Unicode escapes must be \XXXX or \+XXXXXX.`, Position: 11},
		"create table t () on commit delete rows on commit drop": {Code: "42601", Message: `syntax error at or near "on"`, Position: 41},
	} {
		_, err := p.Parse(text)
		var got *Error
		if !errors.As(err, &got) || *got != want {
			t.Errorf("%s: %+v, want %+v", text, err, want)
		}
		if _, err := p.Parse("select 1"); err != nil {
			t.Errorf("after %s: %v", text, err)
		}
	}
}

// An address outside the memory ends the parser, and not the process.
func TestTrap(t *testing.T) {
	p := NewParser()
	p.m.memory = p.m.memory[:p.stack]
	if _, err := p.Parse("select 1"); !errors.Is(err, ErrTrapped) {
		t.Error(err)
	}
}

// Texts leave nothing behind, whether they are right or wrong.
func TestMemoryIsUsedAgain(t *testing.T) {
	p := NewParser()
	texts := []string{"select a, b from c where d in (1, 2, 3)", "select from where"}
	for _, text := range texts {
		p.Parse(text) //nolint:errcheck // one of them is wrong
	}
	before := p.Bytes()
	for range 5000 {
		for _, text := range texts {
			p.Parse(text) //nolint:errcheck // one of them is wrong
		}
	}
	if p.Bytes() != before {
		t.Errorf("%d bytes after 10,000 texts, %d before", p.Bytes(), before)
	}
}

// The first statement of a process needs a few megabytes.
func TestFirstStatementIsCheap(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := NewParser().Parse("select 1"); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
		t.Errorf("%d bytes", got)
	}
}

func BenchmarkNewParser(b *testing.B) {
	for b.Loop() {
		NewParser()
	}
}

func BenchmarkParse(b *testing.B) {
	p := NewParser()
	for _, c := range []struct{ name, text string }{
		{"one", "select 1"},
		{"post", "select mbus4.post('q', 'body'::text, properties => hstore('a', 'b'), delayed_until => now() + interval '1 s')"},
		{"wrong", "select 1 frm x y"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Parse(c.text) //nolint:errcheck // one of them is wrong
			}
		})
	}
}
