package protocol

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
)

// lobby limits the connections that have not logged in, which any client can open: how many there
// are, and how many from one address. For one too many a random other one is closed: if it were the
// oldest, many clients that connect at once would push each other out for ever; if it were the
// newest, a few that never log in would keep all others out.
type lobby struct {
	most, mostFrom int

	mu   sync.Mutex
	all  []*visitor                  // guarded by mu
	from map[netip.Prefix][]*visitor // guarded by mu: the same, by address
}

// visitor is a connection in a lobby.
type visitor struct {
	lobby       *lobby
	nc          net.Conn
	address     netip.Prefix
	inAll, mine int // its places in all and in from; -1: it has left. Guarded by lobby.mu
}

// The most connections without a login, and the part of them that one address may have.
const (
	mostVisitors = 4096
	visitorShare = 4
)

// newLobby returns a lobby for n connections, 0 means as many as the system has files for.
func newLobby(n int) *lobby {
	if n == 0 {
		n = min(mostVisitors, openFiles()/visitorShare)
	}
	return &lobby{most: n, mostFrom: max(1, n/visitorShare), from: map[netip.Prefix][]*visitor{}}
}

// enter takes in a connection. Another one may have to go for it, and is closed.
func (l *lobby) enter(nc net.Conn) *visitor {
	v := &visitor{lobby: l, nc: nc, address: addressOf(nc.RemoteAddr())}
	if gone := l.admit(v); gone != nil {
		Socket(gone.nc).Close()
	}
	return v
}

// admit adds v. gone is the visitor that has to go for it; nil: none has.
func (l *lobby) admit(v *visitor) (gone *visitor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own := l.from[v.address]; len(own) >= l.mostFrom {
		gone = own[rand.IntN(len(own))]
	} else if len(l.all) >= l.most {
		gone = l.all[rand.IntN(len(l.all))]
	}
	if gone != nil {
		l.remove(gone)
	}
	own := l.from[v.address]
	v.inAll, v.mine = len(l.all), len(own)
	l.all, l.from[v.address] = append(l.all, v), append(own, v)
	return gone
}

// leave takes the connection out: it has logged in, or is closed. It may be called again.
func (v *visitor) leave() {
	v.lobby.mu.Lock()
	defer v.lobby.mu.Unlock()
	if v.inAll >= 0 {
		v.lobby.remove(v)
	}
}

// remove takes out v. The last of each list gets its place. mu is held.
func (l *lobby) remove(v *visitor) {
	last := l.all[len(l.all)-1]
	l.all[v.inAll], last.inAll = last, v.inAll
	l.all[len(l.all)-1] = nil
	l.all = l.all[:len(l.all)-1]
	own := l.from[v.address]
	last = own[len(own)-1]
	own[v.mine], last.mine = last, v.mine
	own[len(own)-1] = nil
	if l.from[v.address] = own[:len(own)-1]; len(own) == 1 {
		delete(l.from, v.address)
	}
	v.inAll, v.mine = -1, -1
}
