package command

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
	"fiveways.dev/fiveways/internal/semaphores"
)

// Conn gives a command access to its connection.
type Conn interface {
	// Session returns the session of the logged-in user. It is nil only for commands with NoAuth.
	Session() *broker.Session
	// Semaphores returns nil if the broker has no semaphores. Then their commands are unknown.
	Semaphores() *semaphores.Manager
	// Time returns the broker's time in ms since 1970.
	Time() int64
	// Writer returns the writer for the answer of a command with Now.
	Writer() *respwire.Writer
}

// Command is a row of the command table.
type Command struct {
	Name    string // lower case; a subcommand's name includes its command: "client|id"
	Arity   int    // number of arguments, including the name; negative: at least this many
	Flags   Flags
	Keys    Keys
	Group   string // for people: "list"
	Since   string // the Redis version that introduced it; "" if Redis does not have it
	Summary string
	// Exactly one of these is set, except that COMMAND has both Now and Subs. Prepare makes a
	// request from the arguments, the first of which is the name; an error is the whole answer. Now
	// executes the command at once and writes the answer: everything before it has been answered,
	// and in a transaction it runs when its turn comes.
	Prepare Prepare
	Now     func(c Conn, args [][]byte)
	Subs    []Command
}

// Prepare makes a request from arguments. The first argument is the name of the command.
type Prepare func(c Conn, args [][]byte) (Request, error)

// Takes reports whether the command accepts n arguments, including its name.
func (d *Command) Takes(n int) bool { return n == d.Arity || d.Arity < 0 && n >= -d.Arity }

// SemaphoreGroup is the group of the commands about task semaphores.
const SemaphoreGroup = "semaphores"

// Keys describes which arguments of a command name queues or semaphores, as in Redis' COMMAND:
// every Step-th argument from First to Last. A negative Last counts from the end. The zero value
// means none.
type Keys struct{ First, Last, Step int }

// The positions of keys in most commands.
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

// Flags are properties of a command that are needed before it runs.
type Flags uint32

// The flags of a command.
const (
	Write       Flags = 1 << iota // changes queues
	Readonly                      // reads queues
	DenyOOM                       // needs memory: refused during an alarm
	Admin                         // for administrators
	PubSub                        // about channels
	NoScript                      // Redis does not allow it in scripts
	Blocking                      // may wait
	Loading                       // Redis allows it while it loads data
	Stale                         // Redis allows it on a stale replica
	Fast                          // takes constant time
	NoAuth                        // allowed before the login
	NoMulti                       // not allowed in a transaction
	Control                       // controls transactions: not queued for EXEC
	Subscribed                    // allowed while subscribed in RESP2
	MovableKeys                   // the positions of its keys depend on other arguments
	Fills                         // needs write permission for its last key; read permission suffices for the others
)

var flagNames = []string{
	"write", "readonly", "denyoom", "admin", "pubsub", "noscript", "blocking", "loading", "stale",
	"fast", "no_auth", "no_multi", "", "", "movablekeys",
}

// Names returns the names of the flags in the reply of COMMAND.
func (f Flags) Names() (all []string) {
	for i, name := range flagNames {
		if f&(1<<i) != 0 && name != "" {
			all = append(all, name)
		}
	}
	return all
}
