package store

import (
	"slices"
	"time"
)

// lead records which goroutine runs the committer and so leads the group commit: the committer's
// own, or a caller of Commit. Store.mu guards it.
//
// Invariant: while an op is pending, the lead is taken, or the committer's goroutine has been
// woken, or the caller of AppendInline is about to call Commit.
type lead struct {
	taken   bool
	asleep  bool      // the goroutine sleeps and has not been woken
	alarm   time.Time // when its timer wakes it; zero: never
	due     time.Time // when the next sync must start, set by the last leader; zero: never
	pending []op      // not yet taken by the committer
}

// run is the committer's goroutine. It takes the lead when there is work and no caller leads.
func (c *committer) run() {
	defer close(c.s.stopped)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for c.await(timer) {
		c.round(true)
		c.s.yieldLead()
	}
	c.settle(true)
	c.s.syncs.behind.Wait()
	if c.failed == nil {
		c.cutZeros() //nolint:errcheck // zeros at the end are harmless: a killed process leaves them, too
	}
	c.s.files.mu.Lock()
	c.seg.img.users--
	c.seg.img.close()
	c.s.files.mu.Unlock()
}

// Commit writes the appended entries on the caller's goroutine, syncs if one of them needs it, and
// calls the dones. If another goroutine leads, Commit does nothing, because that leader also writes
// what was appended meanwhile. It leaves what cannot be written now to the committer's goroutine.
// It saves two context switches for a caller that must wait for the log anyway. The caller must not
// hold a lock that a done takes.
func (s *Store) Commit() {
	s.mu.Lock()
	if s.lead.taken || len(s.lead.pending) == 0 || s.closed || s.committer.leaves {
		s.mu.Unlock()
		return
	}
	s.takeLead()
	s.mu.Unlock()
	s.committer.round(false)
	s.yieldLead()
}

// takeLead makes the caller the leader and takes the pending ops. Called with mu held.
func (s *Store) takeLead() {
	c := s.committer
	s.lead.taken = true
	if c.leaves {
		c.taken = append(c.taken, s.lead.pending...)
		s.lead.pending = slices.Delete(s.lead.pending, 0, len(s.lead.pending))
		return
	}
	c.taken, s.lead.pending = s.lead.pending, c.taken[:0]
}

// yieldLead ends the lead and wakes the committer's goroutine if work is left for it.
func (s *Store) yieldLead() {
	s.mu.Lock()
	l := &s.lead
	l.taken, l.due = false, s.committer.due
	earlier := !l.due.IsZero() && (l.alarm.IsZero() || l.due.Before(l.alarm))
	s.wakeIf(len(l.pending) > 0 || s.closed || earlier || s.committer.leaves)
}

// wakeIf wakes the committer's goroutine if needed is set and it sleeps. It releases mu, which the
// caller holds.
func (s *Store) wakeIf(needed bool) {
	wake := needed && s.lead.asleep
	if wake {
		s.lead.asleep = false
	}
	s.mu.Unlock()
	if wake {
		select {
		case s.wake <- struct{}{}:
		default: // already woken
		}
	}
}

// await waits for work and takes the lead. It returns false, and keeps the lead, if the store is
// closed and nothing is pending.
func (c *committer) await(timer *time.Timer) bool {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.lead.taken || !c.something() {
		c.sleep(timer)
	}
	s.takeLead()
	return len(c.taken) > 0 || c.leaves || !s.closed
}

// something reports whether the committer's goroutine has work to do. Called with mu held.
func (c *committer) something() bool {
	l := &c.s.lead
	return len(l.pending) > 0 || c.leaves || c.s.closed || !l.due.IsZero() && !time.Now().Before(l.due)
}

// sleep waits until the state may have changed. Called with mu held, which it releases meanwhile.
func (c *committer) sleep(timer *time.Timer) {
	s := c.s
	closing := s.closing
	if s.closed {
		closing = nil // only the end of the current lead can wake it
	}
	s.lead.asleep, s.lead.alarm = true, time.Time{}
	if !s.lead.taken && !s.lead.due.IsZero() {
		s.lead.alarm = s.lead.due
		timer.Reset(time.Until(s.lead.due))
	}
	alarm := timer.C
	if s.lead.alarm.IsZero() {
		alarm = nil
	}
	s.mu.Unlock()
	select {
	case <-s.wake:
	case <-alarm:
	case <-closing:
	}
	s.mu.Lock()
	s.lead.asleep = false
}
