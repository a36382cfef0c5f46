package faultlog

import (
	"fmt"
	"sync"

	"fiveways.dev/fiveways/internal/storage/store"
)

// Outcome is what happens to a group.
type Outcome uint8

const (
	Refused Outcome = iota // it is not written, and its done gets an error
	Unknown                // it is written and made durable, and its done gets an error
)

// Log wraps a store. Methods that it does not define are the store's.
type Log struct {
	*store.Store

	mu       sync.Mutex
	held     bool
	waiting  []call // while held
	failing  bool   // Fail was called
	passing  int    // groups that still pass before the failure
	outcome  Outcome
	cause    error  // the outcome of the group that fails
	lost     bool   // once it has failed, groups that the store has also fail
	failed   error  // later groups are not written
	inFlight int    // calls that the store has and that are not done
	refused  []call // rejected calls, whose dones are called once none is in flight
	watchers []func(store.State)
	told     chan struct{} // closed when the watchers know of the failure
	waits    chan struct{}
}

// call is one call of Append or, without a group, of Barrier.
type call struct {
	group  []store.Entry
	shards []uint32
	wait   store.Wait
	done   func(error)
	err    error
}

// New returns a log that has no faults yet.
func New(st *store.Store) *Log {
	return &Log{Store: st, told: make(chan struct{}), waits: make(chan struct{}, 1)}
}

// Waits receives a value whenever something is held.
func (l *Log) Waits() <-chan struct{} { return l.waits }

// Hold holds back what is appended from now on, until Release.
func (l *Log) Hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = true
}

// Release hands over what was held, and ends Hold.
func (l *Log) Release() {
	l.mu.Lock()
	l.held = false
	waiting := l.waiting
	l.waiting = nil
	l.handOver(waiting)
}

// Fail makes the log fail after the next passing groups, including held ones: the group after them
// has the outcome, and all later ones are rejected.
func (l *Log) Fail(passing int, o Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failing, l.passing, l.outcome = true, passing, o
	l.cause = fmt.Errorf("%w: a fault was injected", store.ErrFailed)
}

// Lose makes the node lose its leadership after the next passing groups: the group after them is
// written, and its done, those that are still open, and all later ones get err.
func (l *Log) Lose(passing int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failing, l.passing, l.outcome = true, passing, Unknown
	l.cause, l.lost = err, true
}

// Append is that of store.Store, with faults.
func (l *Log) Append(group []store.Entry, done func(error)) {
	l.add(call{group: group, done: done})
}

// AppendInline is Append: without faults it would wait for a Commit.
func (l *Log) AppendInline(group []store.Entry, done func(error)) { l.Append(group, done) }

// Barrier is that of store.Store, with faults.
func (l *Log) Barrier(shards []uint32, wait store.Wait, done func(error)) {
	l.add(call{shards: append([]uint32(nil), shards...), wait: wait, done: done})
}

func (l *Log) add(c call) {
	l.mu.Lock()
	if l.held {
		l.waiting = append(l.waiting, c)
		l.mu.Unlock()
		select {
		case l.waits <- struct{}{}:
		default:
		}
		return
	}
	l.handOver([]call{c})
}

// handOver gives calls to the store as far as the faults allow. The caller holds mu, which it
// releases, because the store may call a done at once.
func (l *Log) handOver(calls []call) {
	var pass []call
	before := l.failed
	for _, c := range calls {
		if l.failed == nil && l.failing && c.group != nil {
			if l.passing == 0 {
				l.failed = l.cause
				if c.err = l.failed; l.outcome == Unknown {
					pass = append(pass, c)
					continue
				}
			}
			l.passing--
		}
		if l.failed != nil {
			c.err = l.failed
			l.refused = append(l.refused, c)
			continue
		}
		pass = append(pass, c)
	}
	l.inFlight += len(pass)
	fails := before == nil && l.failed != nil
	watchers := l.watchers
	l.mu.Unlock()
	if fails {
		for _, fn := range watchers {
			fn(l.State())
		}
		close(l.told)
	}
	for _, c := range pass {
		l.pass(c)
	}
	l.tellRefused()
}

func (l *Log) pass(c call) {
	done := func(err error) {
		l.mu.Lock()
		if l.lost && l.failed != nil {
			err = l.failed
		}
		l.mu.Unlock()
		if c.err != nil {
			err = c.err
		}
		c.done(err)
		l.mu.Lock()
		l.inFlight--
		l.mu.Unlock()
		l.tellRefused()
	}
	if c.group == nil {
		l.Store.Barrier(c.shards, c.wait, done)
		return
	}
	if c.err != nil { // the disk is to know of this one
		c.group[len(c.group)-1].Wait = store.WaitSync
		c.group[len(c.group)-1].Written = nil
	}
	l.Store.Append(c.group, done)
}

// tellRefused calls the dones of rejected groups, after those of the groups that the store has.
func (l *Log) tellRefused() {
	l.mu.Lock()
	var refused []call
	if l.inFlight == 0 {
		refused, l.refused = l.refused, nil
	}
	l.mu.Unlock()
	for _, c := range refused {
		c.done(c.err)
	}
}

// State returns the store's, or that of a failed log.
func (l *Log) State() store.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return store.State{Health: store.Failed, Err: l.failed}
	}
	return l.Store.State()
}

// AwaitLead returns true, or false once the leadership was lost and its watchers know of it.
func (l *Log) AwaitLead() bool {
	l.mu.Lock()
	ends := l.lost && l.failed != nil
	l.mu.Unlock()
	if ends {
		<-l.told
	}
	return !ends
}

// Watch is that of store.Store, with faults.
func (l *Log) Watch(fn func(store.State)) {
	l.mu.Lock()
	l.watchers = append(l.watchers, fn)
	l.mu.Unlock()
	l.Store.Watch(fn)
}
