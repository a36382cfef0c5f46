package resp

import (
	"maps"
	"slices"
	"strings"

	"fiveways/internal/core/glob"
)

// all are the commands in the order of their names.
func allCommands() (all []*command) {
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		all = append(all, commands[name])
	}
	return all
}

// commandAll is COMMAND without a subcommand.
func commandAll(c *conn, _ [][]byte) {
	all := allCommands()
	c.w.Array(len(all))
	for _, d := range all {
		c.describeCommand(d)
	}
}

// describeCommand writes what COMMAND tells of one.
func (c *conn) describeCommand(d *command) {
	c.w.Array(10)
	c.w.BulkString(d.name)
	c.w.Int(int64(d.arity))
	c.statuses(d.flags.names())
	c.w.Int(int64(d.keys.first))
	c.w.Int(int64(d.keys.last))
	c.w.Int(int64(d.keys.step))
	c.statuses(d.categories())
	c.w.Array(0) // tips
	c.w.Array(0) // key specifications
	c.w.Array(len(d.subs))
	for i := range d.subs {
		c.describeCommand(&d.subs[i])
	}
}

func (c *conn) statuses(all []string) {
	c.w.Set(len(all))
	for _, s := range all {
		c.w.Simple(s)
	}
}

// categories are what kind of command it is, in the words of Redis' ACL.
func (d *command) categories() (all []string) {
	for flag, name := range map[flags]string{write: "@write", readonly: "@read", admin: "@admin", pubsub: "@pubsub", blocking: "@blocking", fast: "@fast"} {
		if d.flags&flag != 0 {
			all = append(all, name)
		}
	}
	if d.flags&fast == 0 {
		all = append(all, "@slow")
	}
	if d.flags&admin != 0 {
		all = append(all, "@dangerous")
	}
	switch d.group {
	case "connection", "transactions", "list", "stream":
		all = append(all, "@"+strings.TrimSuffix(d.group, "s"))
	case semaphoreGroup:
		all = append(all, "@semaphore")
	case "generic":
		all = append(all, "@keyspace")
	}
	slices.Sort(all)
	return all
}

func commandCount(c *conn, _ [][]byte) { c.w.Int(int64(len(commands))) }

// named are the commands of these names, nil where there is none; without names all.
func named(names [][]byte) (all []*command) {
	if len(names) == 0 {
		return allCommands()
	}
	for _, n := range names {
		all = append(all, byFullName(string(n)))
	}
	return all
}

// byFullName finds a command, or a subcommand by "command|subcommand"; nil when there is none.
func byFullName(name string) *command {
	whole, _, isSub := strings.Cut(strings.ToLower(name), "|")
	d, ok := byName([]byte(whole))
	if !ok || !isSub {
		return d
	}
	for i := range d.subs {
		if strings.EqualFold(d.subs[i].name, name) {
			return &d.subs[i]
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
	list := slices.DeleteFunc(named(args[2:]), func(d *command) bool { return d == nil })
	c.documentation(list)
}

func (c *conn) documentation(list []*command) {
	c.w.Map(len(list))
	for _, d := range list {
		c.w.BulkString(d.name)
		fields := []string{"summary", d.summary, "since", d.since, "group", d.group}
		if d.since == "" {
			fields = []string{"summary", d.summary, "group", "module", "module", "fiveways"}
		}
		n := len(fields) / 2
		if len(d.subs) > 0 {
			n++
		}
		c.w.Map(n)
		for _, f := range fields {
			c.w.BulkString(f)
		}
		if len(d.subs) > 0 {
			c.w.BulkString("subcommands")
			var subs []*command
			for i := range d.subs {
				subs = append(subs, &d.subs[i])
			}
			c.documentation(subs)
		}
	}
}

// commandList is COMMAND LIST [FILTERBY MODULE|ACLCAT|PATTERN value].
func commandList(c *conn, args [][]byte) {
	keep := func(*command) bool { return true }
	switch {
	case len(args) == 2:
	case len(args) == 5 && strings.EqualFold(string(args[2]), "FILTERBY"):
		value := string(args[4])
		switch strings.ToUpper(string(args[3])) {
		case "MODULE":
			keep = func(d *command) bool { return d.since == "" && strings.EqualFold(value, "fiveways") }
		case "ACLCAT":
			keep = func(d *command) bool { return slices.Contains(d.categories(), "@"+strings.ToLower(value)) }
		case "PATTERN":
			keep = func(d *command) bool { return glob.Match(strings.ToLower(value), d.name) }
		default:
			c.w.Error(string(errSyntax))
			return
		}
	default:
		c.w.Error(string(errSyntax))
		return
	}
	list := slices.DeleteFunc(allCommands(), func(d *command) bool { return !keep(d) })
	c.w.Array(len(list))
	for _, d := range list {
		c.w.BulkString(d.name)
	}
}

// commandGetKeys tells which arguments of a command are names of queues.
func commandGetKeys(c *conn, args [][]byte) {
	of := args[2:]
	d, ok := lookUp(of)
	switch {
	case !ok:
		c.w.Error("ERR Invalid command specified")
		return
	case d.keys.step == 0:
		c.w.Error("ERR The command has no key arguments")
		return
	case !d.takes(len(of)):
		c.w.Error("ERR Invalid number of arguments specified for command")
		return
	}
	found := d.keys.of(of)
	c.w.Array(len(found))
	for _, k := range found {
		c.w.Bulk(k)
	}
}

// of are the arguments that are keys.
func (k keys) of(args [][]byte) (found [][]byte) {
	last := k.last
	if last < 0 {
		last += len(args)
	}
	for i := k.first; k.step > 0 && i <= last && i < len(args); i += k.step {
		found = append(found, args[i])
	}
	return found
}
