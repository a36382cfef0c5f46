package throttle

import "time"

// Charge is what a publish, or several, takes of limits: first it is added up, then Take charges it
// to all of them, then Await waits for its turn in each. It is one goroutine's.
type Charge struct{ dues []due }

// due is what is charged to one throttle, and, when it was, the ticket for it.
type due struct {
	throttle        *throttle
	messages, bytes int64
	ticket          ticket
}

// Add counts a message to what a limit is charged; nil is no limit.
func (c *Charge) Add(l *Limit, bytes int64) {
	if l == nil {
		return
	}
	t := l.throttle.Load()
	if t == nil {
		return
	}
	for i := range c.dues {
		if d := &c.dues[i]; d.throttle == t {
			d.messages++
			d.bytes += bytes
			return
		}
	}
	c.dues = append(c.dues, due{throttle: t, messages: 1, bytes: bytes})
}

// Empty reports whether no limit counts.
func (c *Charge) Empty() bool { return len(c.dues) == 0 }

// Take takes the tickets. waits is false when it is the turn of all of them.
func (c *Charge) Take() (waits bool) {
	for i := range c.dues {
		d := &c.dues[i]
		d.ticket = d.throttle.charge(d.messages, d.bytes)
		left, _ := d.throttle.left(d.ticket)
		waits = waits || left > 0
	}
	return waits
}

// Await returns when it is the turn of all tickets. sleep waits for a time, or until changed is
// closed; when it says that there is nothing to wait for any more, Await returns its error.
func (c *Charge) Await(sleep func(d time.Duration, changed <-chan struct{}) (over bool, err error)) error {
	for i := range c.dues {
		d := &c.dues[i]
		for left, changed := d.throttle.left(d.ticket); left > 0; left, changed = d.throttle.left(d.ticket) {
			if over, err := sleep(left, changed); over {
				return err
			}
		}
	}
	return nil
}
