package metrics

import (
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/core/histogram"
)

// sink collects metrics in the text format of Prometheus (version 0.0.4). It replaces
// client_golang, whose object for each value makes a scrape of 10,000 queues take ten times the
// time and memory. All names begin with prefix.
type sink struct {
	all    *[]*family
	prefix string
}

// family is a metric with all its values.
type family struct {
	name, help, kind string
	labels           []string
	rows             []byte
	each             iter.Seq2[string, float64] // further rows, as labels with braces and values, that are generated while they are written; nil: none
}

// with returns a sink that writes to the same text with another prefix.
func (s *sink) with(prefix string) *sink { return &sink{s.all, prefix} }

// piece is the approximate number of bytes per write when rows are generated.
const piece = 32 << 10

// writeTo writes all families. It leaves out families without values.
func (s *sink) writeTo(w io.Writer) error {
	b := make([]byte, 0, piece+piece/8)
	for _, f := range *s.all {
		var err error
		if b, err = f.writeTo(w, b[:0]); err != nil {
			return err
		}
		if _, err = w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// writeTo writes the family, except for a remainder that it appends to the empty b and returns.
func (f *family) writeTo(w io.Writer, b []byte) ([]byte, error) {
	if len(f.rows) > 0 {
		b = f.appendHead(b)
		if _, err := w.Write(b); err != nil {
			return b, err
		}
		if _, err := w.Write(f.rows); err != nil {
			return b, err
		}
		return b[:0], nil
	}
	if f.each == nil {
		return b, nil
	}
	begun := false
	for labels, value := range f.each {
		if !begun {
			b, begun = f.appendHead(b), true
		}
		b = appendValue(append(append(b, f.name...), labels...), value)
		if len(b) >= piece {
			if _, err := w.Write(b); err != nil {
				return b, err
			}
			b = b[:0]
		}
	}
	return b, nil
}

// appendHead appends the lines that precede the values.
func (f *family) appendHead(b []byte) []byte {
	b = append(append(append(append(b, "# HELP "...), f.name...), ' '), escaped(f.help, false)...)
	return append(append(append(append(append(b, "\n# TYPE "...), f.name...), ' '), f.kind...), '\n')
}

// add adds one value, with the values of the labels.
type add func(value float64, labels ...string)

func (s *sink) family(kind, name, help string, labels []string) *family {
	f := &family{name: s.prefix + name, help: help, kind: kind, labels: labels}
	*s.all = append(*s.all, f)
	return f
}

// gauge adds a family of gauges.
func (s *sink) gauge(name, help string, labels ...string) add {
	return s.family("gauge", name, help, labels).add
}

// counter adds a family of counters.
func (s *sink) counter(name, help string, labels ...string) add {
	return s.family("counter", name, help, labels).add
}

// histogram adds a histogram. The unit of its values is unit times the unit in the name; the bounds
// are powers of two from from to up bits.
func (s *sink) histogram(name, help string, h *histogram.Snapshot, unit float64, from, up int) {
	f := s.family("histogram", name, help, []string{"le"})
	for bits := from; bits <= up; bits++ {
		f.row("_bucket", float64(h.UpTo(bits)), strconv.FormatFloat(math.Ldexp(unit, bits), 'g', -1, 64))
	}
	n := float64(h.Count())
	f.row("_bucket", n, "+Inf")
	f.labels = nil
	f.row("_sum", float64(h.Sum)*unit)
	f.row("_count", n)
}

func (f *family) add(value float64, labels ...string) { f.row("", value, labels...) }

// row appends name{label="value",…} value.
func (f *family) row(suffix string, value float64, labels ...string) {
	b := appendLabels(append(append(f.rows, f.name...), suffix...), f.labels, labels)
	f.rows = appendValue(b, value)
}

// appendLabels appends {name="value",…}, or nothing if there are no labels.
func appendLabels(b []byte, names, values []string) []byte {
	for i, name := range names {
		sep := byte(',')
		if i == 0 {
			sep = '{'
		}
		b = append(append(append(b, sep), name...), '=', '"')
		b = append(append(b, escaped(values[i], true)...), '"')
	}
	if len(names) > 0 {
		b = append(b, '}')
	}
	return b
}

// appendValue appends the value and the end of a row.
func appendValue(b []byte, value float64) []byte {
	b = append(b, ' ')
	if n := int64(value); float64(n) == value && n < 1<<53 && n > -1<<53 {
		b = strconv.AppendInt(b, n, 10)
	} else {
		b = strconv.AppendFloat(b, value, 'g', -1, 64)
	}
	return append(b, '\n')
}

var (
	inHelp  = strings.NewReplacer("\\", `\\`, "\n", `\n`)
	inLabel = strings.NewReplacer("\\", `\\`, "\n", `\n`, "\"", `\"`)
)

// escaped returns a text escaped for the format, which is UTF-8.
func escaped(text string, label bool) string {
	if !strings.ContainsAny(text, "\\\n\"") && utf8.ValidString(text) {
		return text
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if label {
		return inLabel.Replace(text)
	}
	return inHelp.Replace(text)
}

// truth returns 1 for true and 0 for false.
func truth(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
