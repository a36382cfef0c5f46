package protocol

import (
	"cmp"
	"log/slog"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/semaphores"
)

// Shared holds the options that all servers of one broker have in common. A zero value means the
// default in brackets.
type Shared struct {
	Semaphores  *semaphores.Manager // of the broker; nil: none
	Logins      *Logins             // [of the server's own]
	Clients     *Clients            // the connections that operators see; nil: none
	Connections *Limit              // places for connections [no limit]
	Cluster     Cluster             // the broker's cluster; nil: a single node
	LoginDelay  time.Duration       // before a refused login is answered [1 s; AMQP 3 s]; negative = none
	Log         *slog.Logger        // [slog.Default()]
}

// WithDefaults returns s with the defaults for a server of b filled in.
func (s Shared) WithDefaults(b *broker.Broker, loginDelay time.Duration) Shared {
	if s.Logins == nil {
		s.Logins = NewLogins(b, nil)
	}
	s.LoginDelay = cmp.Or(s.LoginDelay, loginDelay)
	s.Log = cmp.Or(s.Log, slog.Default())
	return s
}
