package protocol

import (
	"cmp"
	"log/slog"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/semaphores"
)

// Shared is what the options of every server of one broker have in common. A zero value means the
// default in brackets.
type Shared struct {
	Semaphores  *semaphores.Manager // of the broker; nil: there are none
	Logins      *Logins             // [of the server's own]
	Clients     *Clients            // where connections are shown to operators; nil: nowhere
	Connections *Limit              // places for connections [no limit]
	Cluster     Cluster             // that the broker serves; nil: its node is alone
	LoginDelay  time.Duration       // before a refused login is answered [1 s; AMQP 3 s]; negative = none
	Log         *slog.Logger        // [slog.Default()]
}

// WithDefaults is s for a server of b, with its defaults filled in.
func (s Shared) WithDefaults(b *broker.Broker, loginDelay time.Duration) Shared {
	if s.Logins == nil {
		s.Logins = NewLogins(b, nil)
	}
	s.LoginDelay = cmp.Or(s.LoginDelay, loginDelay)
	s.Log = cmp.Or(s.Log, slog.Default())
	return s
}
