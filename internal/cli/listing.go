package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// object is a JSON object of the API; numbers are json.Number.
type object = map[string]any

// listing is a command that shows a list of the API: as a table of some members of each object, or as JSON with all.
type listing struct {
	command cobra.Command
	columns string // members of an object that are shown unless told otherwise, "a.b" for b in a
	// path of the list for a command's arguments and the virtual host of --vhost, "" when none is given.
	path  func(args []string, vhost string) string
	match string // the member that --match looks at; "": name, or the first column where that is none of columns
	// inVHost says that the list has objects of virtual hosts, all of them or those of one.
	inVHost bool
	// check refuses arguments that make no sense together; nil: all do.
	check func(args []string, vhost string) error
}

// listingFlags are what the user asks of a list.
type listingFlags struct {
	vhost, output, columns, sort, match string
	reverse                             bool
}

// list makes the command.
func list(l listing) *cobra.Command {
	var f listingFlags
	cmd := &l.command
	operate(cmd, func(cmd *cobra.Command, op *operator, args []string) error {
		return l.run(cmd, op, args, f)
	})
	flags := cmd.Flags()
	if l.inVHost {
		flags.StringVar(&f.vhost, "vhost", "", "only those of this virtual host")
	}
	outputFlag(cmd, &f.output)
	flags.StringVar(&f.columns, "columns", l.columns, "members to show, with commas; a.b is b in a; -o json shows what there is")
	flags.StringVar(&f.sort, "sort", "", "sort by this member (default: as the broker has them)")
	flags.BoolVar(&f.reverse, "reverse", false, "the other way round")
	flags.StringVar(&f.match, "match", "", "only those whose "+l.matched()+" matches this regular expression")
	return cmd
}

// matched is the member that --match looks at.
func (l *listing) matched() string {
	columns := splitList(l.columns)
	switch {
	case l.match != "":
		return l.match
	case slices.Contains(columns, "name"):
		return "name"
	}
	return columns[0]
}

func (l *listing) run(cmd *cobra.Command, op *operator, args []string, f listingFlags) error {
	columns := splitList(f.columns)
	if len(columns) == 0 {
		return fmt.Errorf("%w: --columns names no member", errUsage)
	}
	match, err := regexp.Compile(f.match)
	if err != nil {
		return fmt.Errorf("%w: --match: %w", errUsage, err)
	}
	if l.check != nil {
		if err := l.check(args, f.vhost); err != nil {
			return err
		}
	}
	at := l.path(args, f.vhost)
	if f.output == outputTable || cmd.Flags().Changed("columns") { // the broker leaves out the rest
		wanted := slices.Concat(columns, splitList(f.sort))
		if f.match != "" {
			wanted = append(wanted, l.matched())
		}
		at += "?" + url.Values{"columns": {strings.Join(wanted, ",")}}.Encode()
	}
	var all []object
	if err := op.read(cmd.Context(), at, &all); err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(o object) bool { return !match.MatchString(cellText(member(o, l.matched()))) })
	if f.sort != "" {
		slices.SortStableFunc(all, func(a, b object) int { return compareCells(member(a, f.sort), member(b, f.sort)) })
	}
	if f.reverse {
		slices.Reverse(all)
	}
	if f.output == outputJSON {
		return printJSON(cmd.OutOrStdout(), all)
	}
	return printTable(cmd.OutOrStdout(), columns, all)
}

// splitList cuts a list at its commas.
func splitList(text string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(text, func(r rune) bool { return r == ',' }), func(s string) bool { return strings.TrimSpace(s) == "" })
}

// printTable shows some members of each object under their names.
func printTable(out io.Writer, columns []string, all []object) error {
	heading := strings.ToUpper(strings.NewReplacer("_", " ", "-", " ").Replace(strings.Join(columns, "\t")))
	return table(out, heading, func(row func(...any)) {
		for _, o := range all {
			cells := make([]any, len(columns))
			for i, c := range columns {
				cells[i] = cellText(member(o, c))
			}
			row(cells...)
		}
	})
}

// show makes a command that shows one object, whose path the arguments give: a line for each of its members, or JSON.
func show(cmd *cobra.Command, path func(args []string) string) *cobra.Command {
	var output string
	operate(cmd, func(cmd *cobra.Command, op *operator, args []string) error {
		var o object
		if err := op.read(cmd.Context(), path(args), &o); err != nil {
			return err
		}
		return printObject(cmd.OutOrStdout(), output, o)
	})
	outputFlag(cmd, &output)
	return cmd
}

// printObject shows an object.
func printObject(out io.Writer, output string, o object) error {
	if output == outputJSON {
		return printJSON(out, o)
	}
	return table(out, "MEMBER\tVALUE", func(row func(...any)) { objectRows(row, "", o) })
}

// objectRows are the lines of an object; what is in an object in it has the path as its name.
func objectRows(row func(...any), prefix string, o object) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if inner, ok := o[name].(object); ok && len(inner) > 0 {
			objectRows(row, prefix+name+".", inner)
		} else {
			row(prefix+name, cellText(o[name]))
		}
	}
}

// The forms of an answer.
const (
	outputTable = "table"
	outputJSON  = "json"
)

// outputFlag adds the flag -o.
func outputFlag(cmd *cobra.Command, to *string) {
	*to = outputTable
	cmd.Flags().VarP((*outputForm)(to), "output", "o", "table or json")
}

// outputForm is the value of the flag -o.
type outputForm string

func (f *outputForm) String() string { return string(*f) }
func (f *outputForm) Type() string   { return "form" }
func (f *outputForm) Set(text string) error {
	if text != outputTable && text != outputJSON {
		return errors.New("the forms are table and json")
	}
	*f = outputForm(text)
	return nil
}

func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// read gets something of the API with all numbers as they were written.
func (op *operator) read(ctx context.Context, path string, out any) error {
	w, err := op.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer w.Body.Close()
	d := json.NewDecoder(w.Body)
	d.UseNumber()
	if err := d.Decode(out); err != nil {
		return fmt.Errorf("%w: %w", errNotHTTP, err)
	}
	return nil
}

// printAny prints an answer of the API as it came.
func (op *operator) printAny(cmd *cobra.Command, path string) error {
	var answer any
	if err := op.read(cmd.Context(), path, &answer); err != nil {
		return err
	}
	return printJSON(cmd.OutOrStdout(), answer)
}

// member is a member of an object by its path; nil when there is none.
func member(o object, path string) any {
	if v, ok := o[path]; ok {
		return v
	}
	name, rest, nested := strings.Cut(path, ".")
	inner, ok := o[name].(object)
	if !nested || !ok {
		return nil
	}
	return member(inner, rest)
}

// cellText is how a value looks in a table.
func cellText(v any) string {
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
			parts[i] = cellText(part)
		}
		return strings.Join(parts, ",")
	case object:
		parts := make([]string, 0, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, name+"="+cellText(v[name]))
		}
		return strings.Join(parts, " ")
	}
	return fmt.Sprint(v)
}

// compareCells orders numbers by value, and everything else as text behind them.
func compareCells(a, b any) int {
	x, isX := a.(json.Number)
	y, isY := b.(json.Number)
	switch {
	case isX && isY:
		fx, _ := x.Float64() //nolint:errcheck // JSON's numbers are numbers
		fy, _ := y.Float64() //nolint:errcheck // as above
		return cmp.Compare(fx, fy)
	case isX:
		return -1
	case isY:
		return 1
	}
	return cmp.Compare(cellText(a), cellText(b))
}
