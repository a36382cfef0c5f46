package throttle

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Unbounded is a rate that is no limit.
const Unbounded = -1

// bucket is a token bucket that holds one second of its rate. Both counts only grow, so a caller's
// place in the queue is what was spent when it came, and its turn is when as much has been earned.
type bucket struct {
	rate          int64 // tokens per second, Unbounded: no limit
	spent, earned float64
}

// earn adds what came in d. What is not spent within a second is lost.
func (b *bucket) earn(d time.Duration) {
	b.earned = min(b.earned+float64(b.rate)*d.Seconds(), b.spent+float64(b.rate))
}

// spend takes n tokens, also those that are not there yet, and gives the place in the line; 0 is at
// once.
func (b *bucket) spend(n int64) (place float64) {
	if b.rate == Unbounded {
		return 0
	}
	b.spent += float64(n)
	return b.spent
}

// longestWait is how long a wait is before it is looked at again.
const longestWait = time.Hour

// left is how long it takes until a place has its turn, 0 when it is there.
func (b *bucket) left(place float64) time.Duration {
	if b.rate == Unbounded || place <= b.earned {
		return 0
	}
	ns := math.Ceil((place - b.earned) / float64(b.rate) * float64(time.Second))
	return time.Duration(min(ns, float64(longestWait))) // with a rate of 0 it is infinite
}

// setRate changes the rate. Waiting publishers go on with the new one; a bucket that had no limit
// begins full.
func (b *bucket) setRate(rate int64) {
	if b.rate == Unbounded || rate == Unbounded {
		b.spent, b.earned = 0, float64(rate)
	}
	b.rate = rate
	b.earn(0)
}

// throttle holds publishers to the rates of one queue, virtual host or user.
type throttle struct {
	mu              sync.Mutex
	messages, bytes bucket        // guarded by mu
	looked          time.Time     // guarded by mu: until when they have earned
	changed         chan struct{} // guarded by mu: closed when the rates change
}

// earn brings the buckets up to now. mu is held.
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

// charge takes tokens for what is to be published.
func (t *throttle) charge(messages, bytes int64) ticket {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.earn()
	return ticket{t.messages.spend(messages), t.bytes.spend(bytes)}
}

// ticket is the places in the lines of a throttle where a publisher waits.
type ticket struct{ messages, bytes float64 }

// left is how long it takes until a ticket has its turn, as things are, and what is closed when
// they change.
func (t *throttle) left(p ticket) (time.Duration, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.earn()
	return max(t.messages.left(p.messages), t.bytes.left(p.bytes)), t.changed
}

// Limit is where a queue, a virtual host or a user has its rates. The zero value has none.
type Limit struct {
	throttle atomic.Pointer[throttle] // nil: there never was a rate. It stays once there was one, for waiting publishers
}

// Set sets rates per second, below 0 none, and reports whether there are or were some. Waiting
// publishers go on with the new ones. One goroutine at a time may call it.
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
