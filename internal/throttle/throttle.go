package throttle

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Unbounded is a rate without a limit.
const Unbounded = -1

// bucket is a token bucket that holds one second of its rate. Both counts only grow: a caller's
// place in the queue is the value of spent after its charge, and its turn comes when earned reaches
// it.
type bucket struct {
	rate          int64 // tokens per second; Unbounded: no limit
	spent, earned float64
}

// earn adds the tokens of the duration d. Tokens that are not spent within a second are lost.
func (b *bucket) earn(d time.Duration) {
	b.earned = min(b.earned+float64(b.rate)*d.Seconds(), b.spent+float64(b.rate))
}

// spend takes n tokens, even if they are not earned yet, and returns the place in the queue; 0
// means that there is no wait.
func (b *bucket) spend(n int64) (place float64) {
	if b.rate == Unbounded {
		return 0
	}
	b.spent += float64(n)
	return b.spent
}

// longestWait is the longest wait before the state is checked again.
const longestWait = time.Hour

// left returns the time until a place is due, or 0 if it is.
func (b *bucket) left(place float64) time.Duration {
	if b.rate == Unbounded || place <= b.earned {
		return 0
	}
	ns := math.Ceil((place - b.earned) / float64(b.rate) * float64(time.Second))
	return time.Duration(min(ns, float64(longestWait))) // infinite if the rate is 0
}

// setRate changes the rate. Waiting publishers continue with the new one. A bucket that had no
// limit starts full.
func (b *bucket) setRate(rate int64) {
	if b.rate == Unbounded || rate == Unbounded {
		b.spent, b.earned = 0, float64(rate)
	}
	b.rate = rate
	b.earn(0)
}

// throttle applies the rates of one queue, virtual host or user.
type throttle struct {
	mu              sync.Mutex
	messages, bytes bucket        // guarded by mu
	looked          time.Time     // guarded by mu: time of the last earn
	changed         chan struct{} // guarded by mu: closed when the rates change
	ended           bool          // guarded by mu: the user was deleted
}

// earn updates the buckets to the current time. The caller holds mu.
func (t *throttle) earn() {
	now := time.Now()
	d := now.Sub(t.looked)
	t.looked = now
	for _, b := range []*bucket{&t.messages, &t.bytes} {
		if b.rate != Unbounded {
			b.earn(d)
		}
	}
}

// charge takes tokens for a publish.
func (t *throttle) charge(messages, bytes int64) ticket {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.earn()
	return ticket{t.messages.spend(messages), t.bytes.spend(bytes)}
}

// ticket holds the places of a waiting publisher in the queues of a throttle.
type ticket struct{ messages, bytes float64 }

// left returns the time until a ticket is due at the current rates, and a channel that is closed
// when the rates change.
func (t *throttle) left(p ticket) (time.Duration, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.earn()
	return max(t.messages.left(p.messages), t.bytes.left(p.bytes)), t.changed
}

// Limit holds the rates of a queue, a virtual host or a user. The zero value has none.
type Limit struct {
	throttle atomic.Pointer[throttle] // nil: never set; stays once set, for waiting publishers
}

// Set sets the rates per second, where a negative value means none, and reports whether there are
// or were any. Waiting publishers continue with the new ones. Only one goroutine at a time may call
// it.
func (l *Limit) Set(messages, bytes int64) (rated bool) {
	messages, bytes = max(messages, Unbounded), max(bytes, Unbounded)
	t := l.throttle.Load()
	if t == nil {
		if messages == Unbounded && bytes == Unbounded {
			return false
		}
		t = &throttle{looked: time.Now(), changed: make(chan struct{})}
		t.messages.rate, t.bytes.rate = Unbounded, Unbounded
	}
	t.set(messages, bytes)
	l.throttle.Store(t)
	return true
}

func (t *throttle) set(messages, bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.messages.rate == messages && t.bytes.rate == bytes {
		return
	}
	t.earn()
	for _, of := range []struct {
		bucket *bucket
		rate   int64
	}{{&t.messages, messages}, {&t.bytes, bytes}} {
		if of.bucket.rate != of.rate {
			of.bucket.setRate(of.rate)
		}
	}
	close(t.changed)
	t.changed = make(chan struct{})
}

// EndUser is for the limit of a user that was deleted: the publishes that wait for it end with
// failure.ErrUserDeleted.
func (l *Limit) EndUser() {
	t := l.throttle.Load()
	if t == nil {
		return
	}
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.set(Unbounded, Unbounded)
}

func (t *throttle) hasEnded() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}
