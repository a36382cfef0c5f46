package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// checkWords makes every command below cmd, and cmd itself, reject unexpected arguments. Otherwise
// a wrong word after a group would show the help and succeed.
func checkWords(cmd *cobra.Command) {
	for _, below := range cmd.Commands() {
		checkWords(below)
	}
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.Args, cmd.RunE = knownBelow, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		return
	}
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if check(cmd, args) == nil {
				return nil
			}
			return wordsError(cmd, args)
		}
	}
}

// knownBelow rejects words that are not commands of a group, and suggests the nearest ones.
func knownBelow(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = min(2, max(1, len(args[0])/2)) // two letters of three are another word
	hint := ""
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), hint)
}

// wordBefore returns err, unless a word of the command line is not a command: then it returns the
// error about that word, since the flags after it may belong to the command that was meant.
func wordBefore(root *cobra.Command, args []string, err error) error {
	group, rest, _ := root.Find(args) //nolint:errcheck // err is what goes wrong with args
	if takesWords := strings.Contains(group.Use, " "); takesWords || !group.HasSubCommands() || len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return err
	}
	return cmp.Or(group.ValidateArgs(rest[:1]), err)
}

// wordsError returns the usage error for a wrong number of arguments.
func wordsError(cmd *cobra.Command, args []string) error {
	_, takes, some := strings.Cut(cmd.Use, " ")
	switch {
	case !some:
		return fmt.Errorf("`%s` takes no arguments, but %q was given", cmd.CommandPath(), args[0])
	case len(args) == 0:
		return fmt.Errorf("`%s` takes %s; no argument was given", cmd.CommandPath(), takes)
	case len(args) == 1:
		return fmt.Errorf("`%s` takes %s; 1 argument was given", cmd.CommandPath(), takes)
	}
	return fmt.Errorf("`%s` takes %s; %d arguments were given", cmd.CommandPath(), takes, len(args))
}

// flagValues describes the values of flags, by type. Flags of other types describe them themselves.
var flagValues = map[string]string{
	"int":      "a whole number such as 10",
	"uint64":   "a whole number such as 10",
	"float64":  "a number such as 2.5",
	"duration": "a duration such as 500ms, 30s or 5m",
	"bool":     "true or false",
	"intSlice": "whole numbers with commas, such as 1,4,16",
}

// flagError rewrites an error about a flag for people, since the flag package's texts name Go's
// parsers.
func flagError(err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag := wrong.GetFlag()
		if takes, known := flagValues[flag.Value.Type()]; known {
			return fmt.Errorf("--%s takes %s, not %q", flag.Name, takes, wrong.GetValue())
		}
		return fmt.Errorf("--%s: %w", flag.Name, wrong.Unwrap())
	}
	if bare, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("--%s needs a value", bare.GetFlag().Name)
	}
	return err
}
