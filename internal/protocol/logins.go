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
	Protocol string // RabbitMQ's names amqp091 and http; ours: sql, redis, etcd
	User     string // as the client gave it
	Peer     net.Addr
}

// Failed logins make guessing slow: after this many failures further attempts are delayed, each
// twice as long as the one before, up to the longest. Failures are forgotten some time after the
// last one.
const (
	freeFailures   = 5 // of one user from one address
	firstPause     = time.Second
	longestPause   = 5 * time.Second // shorter than the login time-out of every protocol
	freeAtAddress  = 50              // of all users from one address
	pauseAtAddress = time.Second
	memoryOfLogins = 10 * time.Minute
	mostSources    = 10_000 // that are remembered; the least recently active one is dropped
)

// ErrHeldBack refuses a login without checking it, because too many have failed. Clients get the
// same answer as for a wrong password.
var ErrHeldBack = errors.New("too many logins have failed from there; wait some seconds")

// Logins authenticates clients for all protocols, so that an attacker gains nothing by switching
// protocols. A server without a shared one has its own.
type Logins struct {
	broker *broker.Broker
	tls    *TLS

	mu      sync.Mutex
	totals  map[string]*count        // guarded by mu: by protocol
	sources map[source]*list.Element // guarded by mu: of *sourceState
	quiet   list.List                // guarded by mu: the least recently active first
}

// source is the key by which failures are counted: a user at an address or, with the user "", all
// users at an address.
type source struct {
	address netip.Prefix
	user    string
}

type sourceState struct {
	source
	failures int       // since the last success, or since earlier ones were forgotten
	last     time.Time // since the last success, or since earlier ones were forgotten
	next     time.Time // no attempt is checked before then
	known    bool      // the last attempt succeeded
	counts   map[string]*count
}

// count counts logins.
type count struct {
	succeeded, failed uint64
	heldBack          uint64 // part of the failed: not checked
}

// NewLogins returns the logins of a broker. secure is nil without TLS.
func NewLogins(b *broker.Broker, secure *TLS) *Logins {
	return &Logins{broker: b, tls: secure, totals: map[string]*count{}, sources: map[source]*list.Element{}}
}

// TLS returns the certificate that clients see, or nil without TLS.
func (l *Logins) TLS() *TLS { return l.tls }

// Password checks a name and a password. After failures it waits first, until gone is closed at the
// latest. All failures look the same to the client; the error is for the log. It returns
// failure.ErrAccessRefused or ErrHeldBack.
func (l *Logins) Password(gone <-chan struct{}, at Attempt, password string) error {
	done, err := l.Begin(gone, at)
	if err != nil {
		return err
	}
	err = l.broker.Authenticate(at.User, password, IsLoopback(at.Peer))
	done(err == nil)
	return err
}

// Begin is for logins that other code checks. It delays the attempt if necessary; the caller then
// reports the outcome with done. It returns ErrHeldBack if the attempt is not to be checked.
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

// Certificate logs in a client by its certificate. It returns failure.ErrAccessRefused unless the
// user that the certificate names exists and may log in from that address.
func (l *Logins) Certificate(at Attempt) error {
	err := l.broker.Admit(at.User, IsLoopback(at.Peer))
	l.note(at, err == nil)
	return err
}

// sourcesOf returns the two sources that an attempt counts for.
func sourcesOf(at Attempt) (pair, address source) {
	a := addressOf(at.Peer)
	return source{a, Clipped(at.User)}, source{a, ""}
}

// addressOf returns the part of the address that a client cannot change at will: all of an IPv4
// address, 64 bits of an IPv6 address.
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
	p, _ := ip.Prefix(bits) // it fails only for no address
	return p
}

// admit returns how long an attempt must wait. Waiting attempts queue up, so that opening more
// connections gains nothing.
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

// pause returns the least time between two attempts.
func (s *sourceState) pause() time.Duration {
	switch {
	case s.user == "" && s.failures >= freeAtAddress:
		return pauseAtAddress
	case s.user == "" || s.failures < freeFailures:
		return 0
	}
	return min(firstPause<<min(s.failures-freeFailures, 16), longestPause)
}

// find returns the state of a source, or nil if there is none. The caller holds mu.
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

// note counts an attempt.
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

// get is find, but creates a missing state. The caller holds mu.
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

// totalOf returns the counts of a protocol. The caller holds mu.
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

// Tally counts the logins of a protocol, or of a source.
type Tally struct {
	Protocol          string
	Address, User     string // of a source; "" for a protocol
	Succeeded, Failed uint64
	HeldBack          uint64 // of the failed ones: not checked (ErrHeldBack); only for a protocol
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

// Sources lists the logins by address, user and protocol for the most recently active sources.
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

// Failing lists the sources whose logins have failed in the last ten minutes without a success
// since, the most failures first.
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

// Reset forgets all attempts, and so ends all delays.
func (l *Logins) Reset() { l.forget(true) }

// ResetSources forgets attempts by source and keeps the counts by protocol.
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
