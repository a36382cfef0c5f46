package listing

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"

	"github.com/spf13/cobra"
)

// Spec describes a command that shows a list of the API: some members of each object as a table, or
// all of them as JSON.
type Spec struct {
	Command cobra.Command
	Columns string // members to show by default; "a.b" is member b of a
	// Names maps column names to the paths of members, where they differ.
	Names map[string]string
	// Path returns the path of the list, for the command's arguments and the virtual host given by
	// --vhost, which may be "".
	Path  func(args []string, vhost string) string
	Match string // the member for --match; "" means name, or the first column if name is not a column
	// inVHost says that the objects belong to virtual hosts, and the list can be limited to one.
	InVHost bool
	// check rejects invalid combinations of arguments; nil accepts all.
	Check func(args []string, vhost string) error
}

// listingFlags are the values of a list's flags.
type listingFlags struct {
	vhost, output, columns, sort, match string
	reverse                             bool
}

// List returns the command that l describes.
func List(l Spec) *cobra.Command {
	var f listingFlags
	cmd := Watched(&l.Command, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error { return l.run(cmd, op, args, f) })
	flags := cmd.Flags()
	if l.InVHost {
		flags.StringVar(&f.vhost, "vhost", "", "only those of this virtual host")
	}
	display.Flag(cmd, &f.output)
	flags.StringVar(&f.columns, "columns", l.Columns, "members to show, with commas; a.b is b in a; -o json shows all members")
	flags.StringVar(&f.sort, "sort", "", "sort by this member or column (default: the broker's order)")
	flags.BoolVar(&f.reverse, "reverse", false, "reverse the order")
	flags.StringVar(&f.match, "match", "", "only those whose "+l.matched()+" matches this regular expression")
	return cmd
}

// path returns the path of the member that a column shows.
func (l *Spec) path(column string) string { return cmp.Or(l.Names[column], column) }

// matched returns the member that --match applies to.
func (l *Spec) matched() string {
	columns := display.SplitList(l.Columns)
	switch {
	case l.Match != "":
		return l.Match
	case slices.Contains(columns, "name"):
		return "name"
	}
	return columns[0]
}

func (l *Spec) run(cmd *cobra.Command, op *brokerapi.Client, args []string, f listingFlags) error {
	columns := display.SplitList(f.columns)
	if len(columns) == 0 {
		return fmt.Errorf("%w: --columns names no member", exitcode.ErrUsage)
	}
	match, err := regexp.Compile(f.match)
	if err != nil {
		return fmt.Errorf("%w: --match: %w", exitcode.ErrUsage, err)
	}
	if l.Check != nil {
		if err := l.Check(args, f.vhost); err != nil {
			return err
		}
	}
	shown := func(column string) bool { return l.path(column) == l.path(f.sort) }
	if f.sort != "" && !cmd.Flags().Changed("columns") && !slices.ContainsFunc(columns, shown) {
		columns = append(columns, f.sort)
	}
	at := l.Path(args, f.vhost)
	if f.output == display.FormTable || cmd.Flags().Changed("columns") { // the broker omits the other members
		var wanted []string
		for _, column := range slices.Concat(columns, display.SplitList(f.sort)) {
			wanted = append(wanted, l.path(column))
		}
		if f.match != "" {
			wanted = append(wanted, l.matched())
		}
		at += "?" + url.Values{"columns": {strings.Join(wanted, ",")}}.Encode()
	}
	var all []display.Object
	if err := op.Read(cmd.Context(), at, &all); err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(o display.Object) bool { return !match.MatchString(display.Cell(display.Member(o, l.matched()))) })
	l.note(cmd, all, append(columns, f.sort))
	if f.sort != "" {
		member := l.path(f.sort)
		slices.SortStableFunc(all, func(a, b display.Object) int {
			return display.CompareCells(display.Member(a, member), display.Member(b, member))
		})
	}
	if f.reverse {
		slices.Reverse(all)
	}
	if f.output == display.FormJSON {
		return display.PrintJSON(cmd.OutOrStdout(), all)
	}
	return display.PrintTable(cmd.OutOrStdout(), columns, l.Names, all)
}

// note warns about columns that the user has named and no object has: either the name is wrong, or
// the member is optional.
func (l *Spec) note(cmd *cobra.Command, all []display.Object, columns []string) {
	told := append(display.SplitList(l.Columns), "") // and the columns that always exist
	for _, column := range columns {
		has := func(o display.Object) bool { return display.Has(o, l.path(column)) }
		if len(all) == 0 || slices.Contains(told, column) || slices.ContainsFunc(all, has) {
			continue
		}
		told = append(told, column)
		fmt.Fprintf(cmd.ErrOrStderr(), "fiveways: none of them has %q; -o json shows all members\n", column)
	}
}

// Show returns a command that shows the object at the path that its arguments give, as one line per
// member or as JSON.
func Show(cmd *cobra.Command, path func(args []string) string) *cobra.Command {
	var output string
	Watched(cmd, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		var o display.Object
		if err := op.Read(cmd.Context(), path(args), &o); err != nil {
			return err
		}
		return display.PrintObject(cmd.OutOrStdout(), output, o)
	})
	display.Flag(cmd, &output)
	return cmd
}

// Watched is brokerapi.Command for a command that shows a state, which --watch repeats.
func Watched(cmd *cobra.Command, run func(cmd *cobra.Command, op *brokerapi.Client, args []string) error) *cobra.Command {
	watch := display.WatchFlag(cmd)
	return brokerapi.Command(cmd, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		return watch(cmd, func() error { return run(cmd, op, args) })
	})
}

// PrintAny prints an answer of the API unchanged.
func PrintAny(cmd *cobra.Command, op *brokerapi.Client, path string) error {
	var answer any
	if err := op.Read(cmd.Context(), path, &answer); err != nil {
		return err
	}
	return display.PrintJSON(cmd.OutOrStdout(), answer)
}

// Group returns a command that only contains other commands.
func Group(use, short, long, example string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Example: example}
	cmd.AddCommand(below...)
	return cmd
}

// InVHost returns a function for the path of the objects of a kind, in one virtual host or in all.
func InVHost(kind ...string) func(args []string, vhost string) string {
	return func(_ []string, vhost string) string {
		if vhost == "" {
			return brokerapi.Path(kind...)
		}
		return brokerapi.Path(append(kind, vhost)...)
	}
}

// OnVHost adds the flag --vhost.
func OnVHost(cmd *cobra.Command, vhost *string) *cobra.Command {
	cmd.Flags().StringVar(vhost, "vhost", "/", "virtual host")
	return cmd
}
