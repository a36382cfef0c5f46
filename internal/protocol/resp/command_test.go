package resp

import (
	"testing"

	"fiveways.dev/fiveways/internal/protocol/resp/command"
)

// TestRowsAreWhole checks that each row has exactly one implementation. A command with only
// subcommands never runs itself: its arity rejects it without a subcommand.
func TestRowsAreWhole(t *testing.T) {
	check := func(d *command.Command) {
		ways := 0
		for _, has := range []bool{d.Prepare != nil, d.Now != nil, len(d.Subs) > 0} {
			if has {
				ways++
			}
		}
		switch {
		case ways == 0, ways > 1 && d.Name != "command":
			t.Errorf("%s can be done in %d ways", d.Name, ways)
		case d.Prepare == nil && d.Now == nil && d.Takes(1):
			t.Errorf("%s has nothing to do without a subcommand", d.Name)
		case len(d.Name) > longestName:
			t.Errorf("%s is longer than names are", d.Name)
		}
	}
	for _, d := range allCommands() {
		check(d)
		for i := range d.Subs {
			check(&d.Subs[i])
		}
	}
}
