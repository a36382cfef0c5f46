package resp

import (
	"maps"
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/core/glob"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
)

// allCommands returns all commands, sorted by name.
func allCommands() (all []*command.Command) {
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		all = append(all, commands[name])
	}
	return all
}

// commandAll implements COMMAND without a subcommand.
func commandAll(c *conn, _ [][]byte) {
	all := allCommands()
	c.w.Array(len(all))
	for _, d := range all {
		c.describeCommand(d)
	}
}

// describeCommand writes a command's entry in the reply of COMMAND.
func (c *conn) describeCommand(d *command.Command) {
	c.w.Array(10)
	c.w.BulkString(d.Name)
	c.w.Int(int64(d.Arity))
	c.statuses(d.Flags.Names())
	c.w.Int(int64(d.Keys.First))
	c.w.Int(int64(d.Keys.Last))
	c.w.Int(int64(d.Keys.Step))
	c.statuses(categories(d))
	c.w.Array(0) // tips
	c.w.Array(0) // key specifications
	c.w.Array(len(d.Subs))
	for i := range d.Subs {
		c.describeCommand(&d.Subs[i])
	}
}

func (c *conn) statuses(all []string) {
	c.w.Set(len(all))
	for _, s := range all {
		c.w.Simple(s)
	}
}

// categories returns the ACL categories of the command, as Redis names them.
func categories(d *command.Command) (all []string) {
	for flag, name := range map[command.Flags]string{command.Write: "@write", command.Readonly: "@read", command.Admin: "@admin", command.PubSub: "@pubsub", command.Blocking: "@blocking", command.Fast: "@fast"} {
		if d.Flags&flag != 0 {
			all = append(all, name)
		}
	}
	if d.Flags&command.Fast == 0 {
		all = append(all, "@slow")
	}
	if d.Flags&command.Admin != 0 {
		all = append(all, "@dangerous")
	}
	switch d.Group {
	case "connection", "transactions", "list", "stream":
		all = append(all, "@"+strings.TrimSuffix(d.Group, "s"))
	case command.SemaphoreGroup:
		all = append(all, "@semaphore")
	case "generic":
		all = append(all, "@keyspace")
	}
	slices.Sort(all)
	return all
}

func commandCount(c *conn, _ [][]byte) { c.w.Int(int64(len(commands))) }

// named returns the commands with the given names, with nil for an unknown name. Without names it
// returns all commands.
func named(names [][]byte) (all []*command.Command) {
	if len(names) == 0 {
		return allCommands()
	}
	for _, n := range names {
		all = append(all, byFullName(string(n)))
	}
	return all
}

// byFullName returns a command, or a subcommand given as "command|subcommand". It returns nil if
// there is none.
func byFullName(name string) *command.Command {
	whole, _, isSub := strings.Cut(strings.ToLower(name), "|")
	d, ok := byName([]byte(whole))
	if !ok || !isSub {
		return d
	}
	for i := range d.Subs {
		if strings.EqualFold(d.Subs[i].Name, name) {
			return &d.Subs[i]
		}
	}
	return nil
}

func commandInfo(c *conn, args [][]byte) {
	list := named(args[2:])
	c.w.Array(len(list))
	for _, d := range list {
		if d == nil {
			c.w.Null()
			continue
		}
		c.describeCommand(d)
	}
}

func commandDocs(c *conn, args [][]byte) {
	list := slices.DeleteFunc(named(args[2:]), func(d *command.Command) bool { return d == nil })
	c.documentation(list)
}

func (c *conn) documentation(list []*command.Command) {
	c.w.Map(len(list))
	for _, d := range list {
		c.w.BulkString(d.Name)
		fields := []string{"summary", d.Summary, "since", d.Since, "group", d.Group}
		if d.Since == "" {
			fields = []string{"summary", d.Summary, "group", "module", "module", "fiveways"}
		}
		n := len(fields) / 2
		if len(d.Subs) > 0 {
			n++
		}
		c.w.Map(n)
		for _, f := range fields {
			c.w.BulkString(f)
		}
		if len(d.Subs) > 0 {
			c.w.BulkString("subcommands")
			var subs []*command.Command
			for i := range d.Subs {
				subs = append(subs, &d.Subs[i])
			}
			c.documentation(subs)
		}
	}
}

// withHelp adds HELP to a command with subcommands. HELP lists the subcommands with their
// summaries; the error for an unknown subcommand refers to it.
func withHelp(since string, d command.Command) command.Command {
	d.Subs = append(d.Subs, command.Command{Name: d.Name + "|help", Arity: 2, Flags: anywhere, Group: d.Group, Since: since, Summary: "Prints this help"})
	subs := d.Subs
	subs[len(subs)-1].Now = on(func(c *conn, _ [][]byte) {
		c.w.Array(1 + 2*len(subs))
		c.w.Simple(strings.ToUpper(d.Name) + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
		for i := range subs {
			_, name, _ := strings.Cut(subs[i].Name, "|")
			c.w.Simple(strings.ToUpper(name))
			c.w.Simple("    " + subs[i].Summary + ".")
		}
	})
	return d
}

// commandList implements COMMAND LIST [FILTERBY MODULE|ACLCAT|PATTERN value].
func commandList(c *conn, args [][]byte) {
	keep := func(*command.Command) bool { return true }
	switch {
	case len(args) == 2:
	case len(args) == 5 && strings.EqualFold(string(args[2]), "FILTERBY"):
		value := string(args[4])
		switch strings.ToUpper(string(args[3])) {
		case "MODULE":
			keep = func(d *command.Command) bool { return d.Since == "" && strings.EqualFold(value, "fiveways") }
		case "ACLCAT":
			keep = func(d *command.Command) bool { return slices.Contains(categories(d), "@"+strings.ToLower(value)) }
		case "PATTERN":
			keep = func(d *command.Command) bool { return glob.Match(strings.ToLower(value), d.Name) }
		default:
			c.w.Error(string(command.ErrSyntax))
			return
		}
	default:
		c.w.Error(string(command.ErrSyntax))
		return
	}
	list := slices.DeleteFunc(allCommands(), func(d *command.Command) bool { return !keep(d) })
	c.w.Array(len(list))
	for _, d := range list {
		c.w.BulkString(d.Name)
	}
}

// commandGetKeys implements COMMAND GETKEYS: it returns the arguments of a command that name
// queues.
func commandGetKeys(c *conn, args [][]byte) {
	of := args[2:]
	d, ok := lookUp(of)
	switch {
	case !ok:
		c.w.Error("ERR Invalid command specified")
		return
	case d.Keys.Step == 0:
		c.w.Error("ERR The command has no key arguments")
		return
	case !d.Takes(len(of)):
		c.w.Error("ERR Invalid number of arguments specified for command")
		return
	}
	found := d.Keys.Of(of)
	c.w.Array(len(found))
	for _, k := range found {
		c.w.Bulk(k)
	}
}
