package pgwire

import (
	"cmp"
	"net"
	"slices"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/catalog"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
)

// activity returns the sessions that a user may see: all of them if everything is set, otherwise
// those of the user.
func (r *registry) activity(user string, everything bool) []catalog.Activity {
	r.mu.Lock()
	var seen []*conn
	for _, c := range r.byPID {
		if everything || c.user == user {
			seen = append(seen, c)
		}
	}
	r.mu.Unlock()
	slices.SortFunc(seen, func(a, b *conn) int { return cmp.Compare(a.pid, b.pid) })
	all := make([]catalog.Activity, len(seen))
	for i, c := range seen {
		all[i] = c.activity()
	}
	return all
}

// activity returns the session as pg_stat_activity shows it. Any goroutine may call it.
func (c *conn) activity() catalog.Activity {
	a := catalog.Activity{PID: c.pid, User: c.user, Database: c.database, Started: temporal.FromTime(c.started), State: "idle"}
	if name := c.name.Load(); name != nil {
		a.ApplicationName = *name
	}
	if tcp, ok := c.nc.RemoteAddr().(*net.TCPAddr); ok {
		a.Address, a.Port = tcp.IP.String(), tcp.Port
	}
	text, since, busy := c.running.statement()
	if a.Query = text; !since.IsZero() {
		a.QueryStarted = temporal.FromTime(since)
	}
	switch {
	case busy:
		a.State = "active"
	case c.status.Load() == 'T':
		a.State = "idle in transaction"
	case c.status.Load() == 'E':
		a.State = "idle in transaction (aborted)"
	}
	return a
}
