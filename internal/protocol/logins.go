package protocol

import (
	"cmp"
	"container/list"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/broker"
)

// Attempt is an attempt to log in.
type Attempt struct {
	Protocol string // as RabbitMQ names it: amqp091, http; ours: sql, redis, etcd
	User     string // as the client gave it
	Peer     net.Addr
}

// Guessing is made slow: this many logins may fail before others are held back, each
// pause being twice the one before, up to the longest. What failed is forgotten
// some time after the last failure.
const (
	freeFailures   = 5 // of one user from one address
	firstPause     = time.Second
	longestPause   = 5 * time.Second // less than any protocol has patience for
	freeAtAddress  = 50              // of any users from one address
	pauseAtAddress = time.Second
	memoryOfLogins = 10 * time.Minute
	mostSources    = 10_000 // that are remembered; beyond it the one goes that was quiet the longest
)

// ErrHeldBack refuses a login, unchecked, of which there were too many. Clients
// hear what they hear after a wrong password.
var ErrHeldBack = errors.New("too many logins have failed from there; wait some seconds")

// Logins is where all protocols authenticate their clients, so that an attacker gains nothing by
// switching protocols. A server without a shared one has its own.
type Logins struct {
	broker *broker.Broker
	tls    *TLS

	mu      sync.Mutex
	totals  map[string]*count        // guarded by mu: by protocol
	sources map[source]*list.Element // guarded by mu: of *sourceState
	quiet   list.List                // guarded by mu: the source that was quiet the longest first
}

// source is what failures are counted for: a user from an address, or, with the user "", all users
// from there.
type source struct {
	address netip.Prefix
	user    string
}

type sourceState struct {
	source
	failures int       // since the last success, or since they were forgotten
	last     time.Time // of them
	next     time.Time // before which no further attempt is looked at
	known    bool      // the last one succeeded
	counts   map[string]*count
}

// count is how many logins there were.
type count struct {
	succeeded, failed uint64
	heldBack          uint64 // of the failed: they were not looked at
}

// NewLogins returns the logins of a broker. secure is nil where there are no
// certificates.
func NewLogins(b *broker.Broker, secure *TLS) *Logins {
	return &Logins{broker: b, tls: secure, totals: map[string]*count{}, sources: map[source]*list.Element{}}
}

// TLS is the certificate that clients see; nil: none.
func (l *Logins) TLS() *TLS { return l.tls }

// Password checks a name and a password. It may take its time after failures, but
// not longer than until gone is closed. All failures look the same to the client;
// the error is for the log. Errors: failure.ErrAccessRefused, ErrHeldBack.
func (l *Logins) Password(gone <-chan struct{}, at Attempt, password string) error {
	done, err := l.Begin(gone, at)
	if err != nil {
		return err
	}
	err = l.broker.Authenticate(at.User, password, IsLoopback(at.Peer))
	done(err == nil)
	return err
}

// Begin is for logins that are checked elsewhere. It holds the attempt back as long
// as needed; done tells how it ended. Errors: ErrHeldBack.
func (l *Logins) Begin(gone <-chan struct{}, at Attempt) (done func(ok bool), err error) {
	wait, err := l.admit(at)
	if err != nil {
		return nil, err
	}
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-gone:
			return nil, ErrHeldBack
		}
	}
	return func(ok bool) { l.note(at, ok) }, nil
}

// Certificate is the login of a client with a certificate: the user that it names must exist and be
// allowed from that address. Errors: failure.ErrAccessRefused.
func (l *Logins) Certificate(at Attempt) error {
	err := l.broker.Admit(at.User, IsLoopback(at.Peer))
	l.note(at, err == nil)
	return err
}

// sourcesOf are the two that an attempt counts for.
func sourcesOf(at Attempt) (pair, address source) {
	a := addressOf(at.Peer)
	return source{a, Clipped(at.User)}, source{a, ""}
}

// addressOf is what the client holds of the network: an address of IPv4, 64 bits
// of one of IPv6.
func addressOf(peer net.Addr) netip.Prefix {
	tcp, ok := peer.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := 64
	if ip.Is4() {
		bits = 32
	}
	p, _ := ip.Prefix(bits) // fails for no address only
	return p
}

// admit tells how long an attempt is to be held back. Those that wait stand in
// line: opening more connections gains nothing.
func (l *Logins) admit(at Attempt) (wait time.Duration, err error) {
	pair, address := sourcesOf(at)
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.find(pair, now)
	for _, s := range []*sourceState{p, l.find(address, now)} {
		if s == nil || s.pause() == 0 || s != p && p != nil && p.known {
			continue
		}
		start := s.next
		if start.Before(now) {
			start = now
		}
		if start.Sub(now) > longestPause {
			c := l.totalOf(at.Protocol)
			c.failed++
			c.heldBack++
			return 0, ErrHeldBack
		}
		s.next = start.Add(s.pause())
		wait = max(wait, start.Sub(now))
	}
	return wait, nil
}

// pause is how long there is to be between two attempts.
func (s *sourceState) pause() time.Duration {
	switch {
	case s.user == "" && s.failures >= freeAtAddress:
		return pauseAtAddress
	case s.user == "" || s.failures < freeFailures:
		return 0
	}
	return min(firstPause<<min(s.failures-freeFailures, 16), longestPause)
}

// find is what is known of a source, nil when that is nothing. mu is held.
func (l *Logins) find(of source, now time.Time) *sourceState {
	e := l.sources[of]
	if e == nil {
		return nil
	}
	s := e.Value.(*sourceState)
	if s.failures > 0 && now.Sub(s.last) > memoryOfLogins {
		s.failures, s.next = 0, time.Time{}
	}
	return s
}

// note counts an attempt that was made.
func (l *Logins) note(at Attempt, ok bool) {
	pair, address := sourcesOf(at)
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.totalOf(at.Protocol).add(ok)
	p := l.get(pair, now)
	if p.counts[at.Protocol] == nil {
		p.counts[at.Protocol] = &count{}
	}
	p.counts[at.Protocol].add(ok)
	if p.known = ok; ok {
		p.failures, p.next = 0, time.Time{}
		return
	}
	for _, s := range []*sourceState{p, l.get(address, now)} {
		s.failures++
		s.last = now
		if first := now.Add(s.pause()); s.pause() > 0 && s.next.Before(first) {
			s.next = first
		}
	}
}

// get is find, and makes what is not there. mu is held.
func (l *Logins) get(of source, now time.Time) *sourceState {
	if s := l.find(of, now); s != nil {
		l.quiet.MoveToBack(l.sources[of])
		return s
	}
	if len(l.sources) >= mostSources {
		oldest := l.quiet.Front()
		delete(l.sources, oldest.Value.(*sourceState).source)
		l.quiet.Remove(oldest)
	}
	s := &sourceState{source: of, counts: map[string]*count{}}
	l.sources[of] = l.quiet.PushBack(s)
	return s
}

// totalOf counts for a protocol. mu is held.
func (l *Logins) totalOf(protocol string) *count {
	if l.totals[protocol] == nil {
		l.totals[protocol] = &count{}
	}
	return l.totals[protocol]
}

func (c *count) add(ok bool) {
	if ok {
		c.succeeded++
		return
	}
	c.failed++
}

// Tally is how many logins there were.
type Tally struct {
	Protocol          string
	Address, User     string // of one source; "" of a protocol
	Succeeded, Failed uint64
	HeldBack          uint64 // of the failed ones: too many had failed before; of a protocol only
}

// Attempts lists logins by protocol.
func (l *Logins) Attempts() (list []Tally) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, c := range l.totals {
		list = append(list, Tally{Protocol: name, Succeeded: c.succeeded, Failed: c.failed, HeldBack: c.heldBack})
	}
	slices.SortFunc(list, func(a, b Tally) int { return cmp.Compare(a.Protocol, b.Protocol) })
	return list
}

// Sources lists logins by address, user and protocol; of the many sources there may
// be it has the latest.
func (l *Logins) Sources() (list []Tally) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for of, e := range l.sources {
		for name, c := range e.Value.(*sourceState).counts {
			a := Tally{Protocol: name, User: of.user, Succeeded: c.succeeded, Failed: c.failed}
			if of.address.IsValid() {
				a.Address = of.address.Addr().String()
			}
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b Tally) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.User, b.User), cmp.Compare(a.Protocol, b.Protocol))
	})
	return list
}

// Failing is a user and an address from which logins fail.
type Failing struct {
	Address, User string
	Failures      int // since the last success
	Last          time.Time
}

// Failing lists where logins have failed in the last ten minutes and none has succeeded since, the
// most failures first.
func (l *Logins) Failing() (list []Failing) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for of := range l.sources {
		if s := l.find(of, now); of.user != "" && s.failures > 0 {
			f := Failing{User: of.user, Failures: s.failures, Last: s.last}
			if of.address.IsValid() {
				f.Address = of.address.Addr().String()
			}
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b Failing) int {
		return cmp.Or(cmp.Compare(b.Failures, a.Failures), cmp.Compare(a.Address, b.Address), cmp.Compare(a.User, b.User))
	})
	return list
}

// Reset forgets all attempts, which ends all delays.
func (l *Logins) Reset() { l.forget(true) }

// ResetSources forgets attempts by source; those by protocol stay counted.
func (l *Logins) ResetSources() { l.forget(false) }

func (l *Logins) forget(totals bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if totals {
		clear(l.totals)
	}
	clear(l.sources)
	l.quiet.Init()
}
