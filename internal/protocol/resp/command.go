package resp

import (
	"context"
	"strings"
	"time"

	"fiveways/internal/broker"
	"fiveways/internal/protocol/resp/respwire"
	"fiveways/internal/semaphores"
)

// request is a command of a client on its way: what the engine is to do for it, and how its answer is told.
type request interface {
	// commands appends what the engine is to do, all of it at once with what other requests want. Nothing: the answer needs no engine.
	commands(dst []broker.Command) []broker.Command
	// reply tells the answer, when the commands are done and what they changed is durable. Their Err is looked at here. Arguments of the
	// request are still there.
	reply(w *respwire.Writer)
}

// blocker is a request that may wait for a message. What it keeps of its arguments are copies: more is read while it waits. In a transaction
// nothing waits: it is a request like others there.
type blocker interface {
	request
	// wait is what it waits for: the first of the commands that gets something ends it (broker.Session.Await), then reply is called, also when none
	// got anything in time. timeout 0 is for ever. Without commands it does not wait.
	wait() (commands []broker.Command, timeout time.Duration)
}

// trier is a blocker that clients send many of. Those in a row about one and the same queue are tried together, before the first that got nothing
// waits: those behind it hardly ever got anything.
type trier interface {
	blocker
	// tried tells, once its commands are done, that there is no need to wait.
	tried() bool
}

// eager is a blocker about several queues that first looks at all of them at once, and waits only when none has anything.
type eager interface {
	blocker
	// answered tells, once its commands are done, that there is no need to wait.
	answered() bool
}

// changer is a request about semaphores. It has changes, and no commands.
type changer interface {
	request
	changes(dst []semaphores.Change) []semaphores.Change
}

// patient is a request about a semaphore that waits when its changes were not enough. In a transaction it does not.
type patient interface {
	changer
	// satisfied tells, once its changes are done, that there is no need to wait.
	satisfied() bool
	// await waits until ctx ends at the latest; then reply is called. timeout 0 is for ever.
	await(ctx context.Context, c *conn) error
	timeout() time.Duration
}

// command is a command that there is.
type command struct {
	name    string // lower case; of a subcommand with that of its command: "client|id"
	arity   int    // arguments with the name; negative: at least so many
	flags   flags
	keys    keys
	group   string // of commands, for people: "list"
	since   string // the version of Redis that brought it; "": Redis does not have it
	summary string
	// Exactly one of them is set. prepare makes a request of the arguments, the first of which is the name; an error is the whole answer. now
	// does it at once and writes the answer: everything before it has been answered, and in a transaction it runs when its turn comes.
	prepare func(c *conn, args [][]byte) (request, error)
	now     func(c *conn, args [][]byte)
	subs    []command
}

// keys says which arguments of a command name queues or semaphores, as Redis' COMMAND does: first and last (negative: from the end), every step-th. The zero
// value: none.
type keys struct{ first, last, step int }

// oneKey is what most commands have.
var oneKey = keys{1, 1, 1}

// flags are what is to be known of a command before it runs.
type flags uint32

const (
	write       flags = 1 << iota // changes queues
	readonly                      // looks at queues
	denyOOM                       // needs memory: refused during an alarm
	admin                         // for administrators
	pubsub                        // about channels
	noScript                      // Redis does not allow it in scripts
	blocking                      // may wait
	loading                       // Redis allows it while it loads
	stale                         // Redis allows it on a replica that is behind
	fast                          // takes the same time whatever is there
	noAuth                        // may come before the login
	noMulti                       // not in a transaction
	control                       // of a transaction: not kept for EXEC
	subscribed                    // also while subscribed, in RESP2
	movableKeys                   // which arguments are keys depends on others
)

var flagNames = []string{
	"write", "readonly", "denyoom", "admin", "pubsub", "noscript", "blocking", "loading", "stale", "fast", "no_auth", "no_multi", "", "", "movablekeys",
}

// names are the flags as COMMAND tells them.
func (f flags) names() (all []string) {
	for i, name := range flagNames {
		if f&(1<<i) != 0 && name != "" {
			all = append(all, name)
		}
	}
	return all
}

// takes tells whether the command may have so many arguments, its name included.
func (d *command) takes(n int) bool { return n == d.arity || d.arity < 0 && n >= -d.arity }

// commands are all there are, by name.
var commands = map[string]*command{}

func init() { // not a variable's value: commands that tell of commands refer to it
	for _, family := range [][]command{
		connectionCommands(),
		clientCommands(),
		serverCommands(),
		pubsubCommands(),
		multiCommands(),
		jobCommands(),
		listCommands(),
		keyCommands(),
		streamCommands(),
		semaphoreCommands(),
	} {
		for i := range family {
			commands[family[i].name] = &family[i]
		}
	}
}

// longestName is at least as long as the longest name of a command.
const longestName = 32

// lookUp finds the command of a request, or of its subcommand.
func lookUp(args [][]byte) (*command, bool) {
	d, ok := byName(args[0])
	if !ok || len(d.subs) == 0 || len(args) < 2 {
		return d, ok
	}
	for i := range d.subs {
		_, sub, _ := strings.Cut(d.subs[i].name, "|")
		if strings.EqualFold(sub, string(args[1])) {
			return &d.subs[i], true
		}
	}
	return d, true
}

// byName finds a command by its name in any case.
func byName(name []byte) (*command, bool) {
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
