package protocol

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
)

// pendingConns limits the connections that have not logged in, which any client can open: in total
// and per address. A connection beyond that closes another one at random. Closing the oldest would
// let many clients that connect at once push each other out forever. Closing the newest would let a
// few clients that never log in keep all others out.
type pendingConns struct {
	most, mostFrom int

	mu   sync.Mutex
	all  []*pendingConn                  // guarded by mu
	from map[netip.Prefix][]*pendingConn // guarded by mu: the same, by address
}

// pendingConn is a connection in a set of pendingConns.
type pendingConn struct {
	set         *pendingConns
	nc          net.Conn
	address     netip.Prefix
	inAll, mine int // indexes in all and in from, guarded by set.mu; -1: it has left
}

// The most connections without a login, and the share of them that one address may have.
const (
	maxPending   = 4096
	pendingShare = 4
)

// newPendingConns returns a set of at most n connections; 0 means the default (NewClientsFor).
func newPendingConns(n int) *pendingConns {
	if n == 0 {
		n = min(maxPending, openFiles()/pendingShare)
	}
	return &pendingConns{most: n, mostFrom: max(1, n/pendingShare), from: map[netip.Prefix][]*pendingConn{}}
}

// enter adds a connection, and closes another one if there are too many.
func (l *pendingConns) enter(nc net.Conn) *pendingConn {
	v := &pendingConn{set: l, nc: nc, address: addressOf(nc.RemoteAddr())}
	if gone := l.admit(v); gone != nil {
		Socket(gone.nc).Close()
	}
	return v
}

// admit adds v and returns the connection to close in its place, nil for none.
func (l *pendingConns) admit(v *pendingConn) (gone *pendingConn) {
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

// leave removes the connection, which has logged in or is closed. Further calls do nothing.
func (v *pendingConn) leave() {
	v.set.mu.Lock()
	defer v.set.mu.Unlock()
	if v.inAll >= 0 {
		v.set.remove(v)
	}
}

// remove removes v. The last element of each list takes its place. The caller holds mu.
func (l *pendingConns) remove(v *pendingConn) {
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
