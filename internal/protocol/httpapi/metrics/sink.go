package metrics

import (
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"fiveways/internal/core/histogram"
)

// sink gathers metrics in the text format of Prometheus (version 0.0.4). It is ours, not client_golang's, for with one object for each value a scrape
// of 10,000 queues takes ten times as long and as much memory. Names begin with prefix.
type sink struct {
	all    *[]*family
	prefix string
}

// family is the values of one name.
type family struct {
	name, help, kind string
	labels           []string
	rows             []byte
}

// with is a sink for names that begin with another prefix, in the same text.
func (s *sink) with(prefix string) *sink { return &sink{s.all, prefix} }

// writeTo writes what was gathered. A family without values is not there.
func (s *sink) writeTo(w io.Writer) error {
	var head []byte
	for _, f := range *s.all {
		if len(f.rows) == 0 {
			continue
		}
		head = append(append(append(append(head[:0], "# HELP "...), f.name...), ' '), escaped(f.help, false)...)
		head = append(append(append(append(append(head, "\n# TYPE "...), f.name...), ' '), f.kind...), '\n')
		if _, err := w.Write(head); err != nil {
			return err
		}
		if _, err := w.Write(f.rows); err != nil {
			return err
		}
	}
	return nil
}

// add takes one value, with the values of the labels.
type add func(value float64, labels ...string)

func (s *sink) family(kind, name, help string, labels []string) *family {
	f := &family{name: s.prefix + name, help: help, kind: kind, labels: labels}
	*s.all = append(*s.all, f)
	return f
}

// gauge is a family of values that rise and fall.
func (s *sink) gauge(name, help string, labels ...string) add {
	return s.family("gauge", name, help, labels).add
}

// counter is a family of values that only rise.
func (s *sink) counter(name, help string, labels ...string) add {
	return s.family("counter", name, help, labels).add
}

// histogram adds a histogram whose values are in units of so many of what the name says, with bounds for values of from to up bits.
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
	b := append(append(f.rows, f.name...), suffix...)
	for i, label := range f.labels {
		sep := byte(',')
		if i == 0 {
			sep = '{'
		}
		b = append(append(append(b, sep), label...), '=', '"')
		b = append(append(b, escaped(labels[i], true)...), '"')
	}
	if len(f.labels) > 0 {
		b = append(b, '}')
	}
	b = append(b, ' ')
	if n := int64(value); float64(n) == value && n < 1<<53 && n > -1<<53 {
		b = strconv.AppendInt(b, n, 10)
	} else {
		b = strconv.AppendFloat(b, value, 'g', -1, 64)
	}
	f.rows = append(b, '\n')
}

var (
	inHelp  = strings.NewReplacer("\\", `\\`, "\n", `\n`)
	inLabel = strings.NewReplacer("\\", `\\`, "\n", `\n`, "\"", `\"`)
)

// escaped is a text as it stands in the format, which is UTF-8.
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

// truth is 1 for yes.
func truth(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
