package transport

import (
	"errors"
	"fmt"
	"time"
)

const (
	// noticedSkew is the clock difference above which a warning is logged. Messages expire by the
	// leader's clock.
	noticedSkew = 500 * time.Millisecond
	// mostSkew is the clock difference above which a node is refused. It far exceeds that of any
	// synchronized clocks, because a refused node no longer counts towards the majority.
	mostSkew = time.Minute
)

// ErrClock means that the clocks of two nodes are too far apart for one cluster.
var ErrClock = errors.New("the clocks of the nodes are more than " + mostSkew.String() + " apart: set the one that is wrong")

// CheckClock returns ErrClock if the clocks of two nodes, which show theirs and ours, are too far
// apart.
func CheckClock(theirs, ours time.Time) error { return checkSkew(theirs.Sub(ours), 0) }

// checkSkew is CheckClock for a difference measured over a round trip of rtt.
func checkSkew(ahead, rtt time.Duration) error {
	if ahead.Abs() <= mostSkew+rtt/2 {
		return nil
	}
	if ahead < 0 {
		return fmt.Errorf("its clock is %s behind: %w", -ahead.Round(time.Second), ErrClock)
	}
	return fmt.Errorf("its clock is %s ahead: %w", ahead.Round(time.Second), ErrClock)
}

// noteSkew records how far a peer's clock is ahead, measured over a round trip of rtt. It logs when
// the difference becomes too large and when it no longer is. It returns ErrClock.
func (t *Transport) noteSkew(p *peer, ahead, rtt time.Duration) error {
	p.figures.skew.Store(int64(ahead))
	apart := ahead.Abs() > noticedSkew+rtt/2
	if p.figures.apart.Swap(apart) != apart {
		if apart {
			t.o.Log.Warn("cluster: the clock of a node differs; when the lead changes, messages, leases and keys expire early or late by that", "node", p.id, "ahead", ahead)
		} else {
			t.o.Log.Info("cluster: the clock of a node agrees again", "node", p.id)
		}
	}
	return checkSkew(ahead, rtt)
}

// cut closes all connections with a peer because of err. Both nodes refuse new ones until their
// clocks agree.
func (t *Transport) cut(p *peer, err error) {
	p.cut(err)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(p.id)
}
