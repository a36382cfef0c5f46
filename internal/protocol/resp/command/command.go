package command

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
	"fiveways.dev/fiveways/internal/semaphores"
)

// Conn is what a command may use of the connection that it came on.
type Conn interface {
	// Session is the session of the logged-in user; nil only for commands with NoAuth.
	Session() *broker.Session
	// Semaphores is nil when the broker has none; then their commands are unknown.
	Semaphores() *semaphores.Manager
	// Time is the broker's, in ms since 1970.
	Time() int64
	// Writer takes the answer of a command that is done at once.
	Writer() *respwire.Writer
}

// Command is a row of the table of commands.
type Command struct {
	Name    string // lower case; of a subcommand with that of its command: "client|id"
	Arity   int    // arguments with the name; negative: at least this many
	Flags   Flags
	Keys    Keys
	Group   string // of commands, for people: "list"
	Since   string // the version of Redis that brought it; "": Redis does not have it
	Summary string
	// Of these one is set; only COMMAND has Now beside its Subs. Prepare makes a request of the
	// arguments, the first of which is the name; an error is the whole answer. Now does it at once
	// and writes the answer: everything before it has been answered, and in a transaction it runs
	// when its turn comes.
	Prepare Prepare
	Now     func(c Conn, args [][]byte)
	Subs    []Command
}

// Prepare makes a request of arguments; the first is the name of the command.
type Prepare func(c Conn, args [][]byte) (Request, error)

// Takes reports whether the command may have n arguments, its name included.
func (d *Command) Takes(n int) bool { return n == d.Arity || d.Arity < 0 && n >= -d.Arity }

// SemaphoreGroup is the group of the commands about task semaphores.
const SemaphoreGroup = "semaphores"

// Keys says which arguments of a command name queues or semaphores, as Redis' COMMAND does: First
// and Last (negative: from the end), every Step-th. The zero value: none.
type Keys struct{ First, Last, Step int }

// The keys that most commands have.
var (
	OneKey  = Keys{1, 1, 1}
	TwoKeys = Keys{1, 2, 1}
	AllKeys = Keys{1, -1, 1} // all arguments
)

// Of returns the arguments that are keys.
func (k Keys) Of(args [][]byte) (found [][]byte) {
	last := k.Last
	if last < 0 {
		last += len(args)
	}
	for i := k.First; k.Step > 0 && i <= last && i < len(args); i += k.Step {
		found = append(found, args[i])
	}
	return found
}

// Flags are what is to be known of a command before it runs.
type Flags uint32

// The flags of a command.
const (
	Write       Flags = 1 << iota // changes queues
	Readonly                      // looks at queues
	DenyOOM                       // needs memory: refused during an alarm
	Admin                         // for administrators
	PubSub                        // about channels
	NoScript                      // Redis does not allow it in scripts
	Blocking                      // may wait
	Loading                       // Redis allows it while it loads
	Stale                         // Redis allows it on a replica that is behind
	Fast                          // takes the same time whatever is there
	NoAuth                        // may come before the login
	NoMulti                       // not in a transaction
	Control                       // of a transaction: not kept for EXEC
	Subscribed                    // also while subscribed, in RESP2
	MovableKeys                   // which arguments are keys depends on others
)

var flagNames = []string{
	"write", "readonly", "denyoom", "admin", "pubsub", "noscript", "blocking", "loading", "stale",
	"fast", "no_auth", "no_multi", "", "", "movablekeys",
}

// Names are the flags as COMMAND tells them.
func (f Flags) Names() (all []string) {
	for i, name := range flagNames {
		if f&(1<<i) != 0 && name != "" {
			all = append(all, name)
		}
	}
	return all
}
