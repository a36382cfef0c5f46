package display

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

// Object is a JSON object of the API; numbers are json.Number.
type Object = map[string]any

// SplitList splits a list at its commas.
func SplitList(text string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(text, func(r rune) bool { return r == ',' }), func(s string) bool { return strings.TrimSpace(s) == "" })
}

// PrintTable prints a table with some members of each object. members maps columns to paths where
// they differ.
func PrintTable(out io.Writer, columns []string, members map[string]string, all []Object) error {
	headings := make([]string, len(columns))
	for i, c := range columns {
		headings[i] = strings.ToUpper(strings.NewReplacer("_", " ", "-", " ").Replace(c))
		if areNumbers(all, cmp.Or(members[c], c)) {
			headings[i] = ">" + headings[i]
		}
	}
	return Table(out, strings.Join(headings, "\t"), func(row func(...any)) {
		for _, o := range all {
			cells := make([]any, len(columns))
			for i, c := range columns {
				path := cmp.Or(members[c], c)
				cells[i] = Amount(path, Member(o, path))
			}
			row(cells...)
		}
	})
}

// areNumbers reports whether the member at a path is a number in all objects that have it.
func areNumbers(all []Object, path string) (some bool) {
	for _, o := range all {
		switch Member(o, path).(type) {
		case nil:
		case json.Number:
			some = true
		default:
			return false
		}
	}
	return some
}

// PrintObject prints an object.
func PrintObject(out io.Writer, output string, o Object) error {
	if output == FormJSON {
		return PrintJSON(out, o)
	}
	return Table(out, "MEMBER\tVALUE", func(row func(...any)) { objectRows(row, "", o) })
}

// objectRows prints a row for each member. Members of nested objects are named by their paths.
func objectRows(row func(...any), prefix string, o Object) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if inner, ok := o[name].(Object); ok && len(inner) > 0 {
			objectRows(row, prefix+name+".", inner)
		} else {
			row(prefix+name, Amount(prefix+name, o[name]))
		}
	}
}

// The forms of output.
const (
	FormTable = "table"
	FormJSON  = "json"
)

// Flag adds the flag -o.
func Flag(cmd *cobra.Command, to *string) {
	*to = FormTable
	cmd.Flags().VarP((*outputForm)(to), "output", "o", "table or json")
}

// LineUsage is the usage of -o for commands whose JSON has one value per line.
const LineUsage = "table, or json: one value a line"

// LineFlag adds the flag -o, and its older equivalent --json, to a command that prints one JSON
// value per line. The returned function reports whether JSON is requested.
func LineFlag(cmd *cobra.Command) func() bool {
	var output string
	Flag(cmd, &output)
	cmd.Flags().Lookup("output").Usage = LineUsage
	asJSON := cmd.Flags().Bool("json", false, "the same as -o json")
	return func() bool { return *asJSON || output == FormJSON }
}

// outputForm is the value of the flag -o.
type outputForm string

func (f *outputForm) String() string { return string(*f) }
func (f *outputForm) Type() string   { return "form" }
func (f *outputForm) Set(text string) error {
	if text != FormTable && text != FormJSON {
		return errors.New("must be table or json")
	}
	*f = outputForm(text)
	return nil
}

func PrintJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Member returns the member of an object at a path, or nil if there is none.
func Member(o Object, path string) any {
	if v, ok := o[path]; ok {
		return v
	}
	name, rest, nested := strings.Cut(path, ".")
	inner, ok := o[name].(Object)
	if !nested || !ok {
		return nil
	}
	return Member(inner, rest)
}

// Has reports whether an object has a member at a path, which may be null.
func Has(o Object, path string) bool {
	if _, ok := o[path]; ok {
		return true
	}
	name, rest, nested := strings.Cut(path, ".")
	inner, ok := o[name].(Object)
	return nested && ok && Has(inner, rest)
}

// Cell formats a value for a table.
func Cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case json.Number:
		return v.String()
	case []any:
		parts := make([]string, len(v))
		for i, part := range v {
			parts[i] = Cell(part)
		}
		return strings.Join(parts, ",")
	case Object:
		parts := make([]string, 0, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, name+"="+Cell(v[name]))
		}
		return strings.Join(parts, " ")
	}
	return fmt.Sprint(v)
}

// CompareCells compares numbers by value, and orders everything else after them as text.
func CompareCells(a, b any) int {
	x, isX := a.(json.Number)
	y, isY := b.(json.Number)
	switch {
	case isX && isY:
		fx, _ := x.Float64() //nolint:errcheck // JSON numbers are valid
		fy, _ := y.Float64() //nolint:errcheck // as above
		return cmp.Compare(fx, fy)
	case isX:
		return -1
	case isY:
		return 1
	}
	return cmp.Compare(Cell(a), Cell(b))
}

// Shown returns the rune to print for a rune.
func Shown(r rune) rune {
	if unicode.IsControl(r) {
		return unicode.ReplacementChar
	}
	return r
}

// excerptRunes is the maximum length of a body in a line.
const excerptRunes = 60

// Excerpt returns the beginning of a body in one line.
func Excerpt(body string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, body))
	if len(runes) > excerptRunes {
		return string(runes[:excerptRunes]) + "…"
	}
	return string(runes)
}

var lineBreaks = regexp.MustCompile(`[ \t]*\n\s*`)

// OneLine joins the lines of a text.
func OneLine(text string) string {
	text = strings.ReplaceAll(strings.TrimSpace(text), ":\n", ": ")
	return lineBreaks.ReplaceAllString(text, "; ")
}
