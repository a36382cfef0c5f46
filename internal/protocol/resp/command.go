package resp

import (
	"strings"

	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/jobs"
	"fiveways.dev/fiveways/internal/protocol/resp/keys"
	"fiveways.dev/fiveways/internal/protocol/resp/lists"
	"fiveways.dev/fiveways/internal/protocol/resp/semaphores"
	"fiveways.dev/fiveways/internal/protocol/resp/streams"
)

// commands holds all commands by name.
var commands = map[string]*command.Command{}

func init() { // not an initializer: commands that describe commands refer to it
	for _, family := range [][]command.Command{
		connectionCommands(),
		clientCommands(),
		serverCommands(),
		pubsubCommands(),
		watchCommands(),
		multiCommands(),
		jobs.Commands(),
		lists.Commands(),
		keys.Commands(),
		streams.Commands(),
		semaphores.Commands(),
	} {
		for i := range family {
			commands[family[i].Name] = &family[i]
		}
	}
}

// on adapts a command that needs the connection itself to the form of the command table.
func on(now func(c *conn, args [][]byte)) func(command.Conn, [][]byte) {
	return func(c command.Conn, args [][]byte) { now(c.(*conn), args) }
}

// anywhere has the flags that Redis gives to commands that do not access data.
const anywhere = command.Loading | command.Stale

// longestName is at least as long as the longest name of a command.
const longestName = 32

// lookUp returns the command of a request, or its subcommand if it names one.
func lookUp(args [][]byte) (*command.Command, bool) {
	d, ok := byName(args[0])
	if !ok || len(d.Subs) == 0 || len(args) < 2 {
		return d, ok
	}
	for i := range d.Subs {
		_, sub, _ := strings.Cut(d.Subs[i].Name, "|")
		if strings.EqualFold(sub, string(args[1])) {
			return &d.Subs[i], true
		}
	}
	return d, true
}

// byName returns the command of that name, ignoring case.
func byName(name []byte) (*command.Command, bool) {
	var lower [longestName]byte
	if len(name) > len(lower) {
		return nil, false
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	d, ok := commands[string(lower[:len(name)])]
	return d, ok
}
