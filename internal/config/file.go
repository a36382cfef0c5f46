package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// file applies the TOML file at path. The file is a flat list of keys, so the parser's expressions
// are read one by one: this gives the line of every key, which decoding into a struct would lose.
func (l *loader) file(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		l.errs = append(l.errs, fmt.Errorf("%w: %w; check the path given by --config or %s", ErrInvalid, err, EnvFile))
		return
	}
	var p unstable.Parser
	const mark = "\ufeff" // byte order mark, with which some editors begin a file
	p.Reset(bytes.TrimPrefix(text, []byte(mark)))
	seen := map[string]string{} // key -> its first position
	for p.NextExpression() {
		e := p.Expression()
		key, where := place(&p, e, path)
		switch {
		case e.Kind != unstable.KeyValue:
			l.errs = append(l.errs, fmt.Errorf("%w: %s: [%s] is a table; the file is a flat list of key = value", ErrInvalid, where, key))
			return
		case seen[key] != "":
			l.errs = append(l.errs, fmt.Errorf("%w: %s: %s is already set at %s", ErrInvalid, where, key, seen[key]))
			continue
		}
		seen[key] = where
		switch v := e.Value(); v.Kind {
		case unstable.String:
			l.set(key, string(v.Data), where)
		case unstable.Integer:
			l.set(key, decimal(string(v.Data)), where)
		default:
			l.errs = append(l.errs, fmt.Errorf("%w (%s)", invalid(key, errors.New("must be a string or an integer")), where))
		}
	}
	if err := p.Error(); err != nil {
		where := path
		var syntax *unstable.ParserError
		if errors.As(err, &syntax) && len(syntax.Highlight) > 0 {
			where = fmt.Sprintf("%s:%d", path, p.Shape(p.Range(syntax.Highlight)).Start.Line)
		}
		l.errs = append(l.errs, fmt.Errorf("%w: %s: %w", ErrInvalid, where, err))
	}
}

// decimal returns a TOML integer as settings are written: 1_000_000 as 1000000, 0x10 as 16. It
// returns one that is out of range unchanged.
func decimal(s string) string {
	var v struct{ N int64 }
	if toml.Unmarshal([]byte("n = "+s), &v) != nil {
		return s
	}
	return strconv.FormatInt(v.N, 10)
}

// place returns the dotted key of an expression and its position "file:line".
func place(p *unstable.Parser, e *unstable.Node, path string) (key, where string) {
	var parts []string
	line := 0
	for it := e.Key(); it.Next(); {
		n := it.Node()
		parts = append(parts, string(n.Data))
		if line == 0 {
			line = p.Shape(n.Raw).Start.Line
		}
	}
	return strings.Join(parts, "."), fmt.Sprintf("%s:%d", path, line)
}
