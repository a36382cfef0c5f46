package throttle

import "time"

// Charge is what one or more publishes consume of several limits. First Add sums it up, then Take
// charges it to all limits, then Await waits for each of them. Only one goroutine may use it.
type Charge struct{ dues []due }

// due is the charge of one throttle, with its ticket after Take.
type due struct {
	throttle        *throttle
	messages, bytes int64
	ticket          ticket
}

// Add adds a message to the charge of a limit; nil means no limit.
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

// Empty reports whether no limit applies.
func (c *Charge) Empty() bool { return len(c.dues) == 0 }

// Take takes the tickets. waits reports whether any of them must wait.
func (c *Charge) Take() (waits bool) {
	for i := range c.dues {
		d := &c.dues[i]
		d.ticket = d.throttle.charge(d.messages, d.bytes)
		left, _ := d.throttle.left(d.ticket)
		waits = waits || left > 0
	}
	return waits
}

// Await returns when all tickets are due. sleep waits for a duration, or until changed is closed.
// If it reports that waiting is over, Await returns its error.
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
