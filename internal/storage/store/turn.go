package store

import "time"

// turn says who has the committer: its goroutine, or a caller of Commit. It is guarded by Store.mu.
//
// Invariant: while something is pending, somebody has the turn, or the goroutine was told to wake, or the caller of AppendOwn is on his way to Commit.
type turn struct {
	taken   bool
	asleep  bool      // the goroutine sleeps and nobody has told it to wake
	alarm   time.Time // when it wakes by itself; zero: it does not
	due     time.Time // when the next sync must start; zero: there is none. As the last turn left it
	pending []op      // not yet taken by the committer
}

// run is the committer's goroutine. It takes the turn when there is something to do that nobody else does.
func (c *committer) run() {
	defer close(c.s.stopped)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for c.await(timer) {
		c.round()
		c.s.endTurn()
	}
	c.settle(true)
	c.s.syncs.behind.Wait()
	if c.failed == nil {
		c.cutZeros() //nolint:errcheck // zeros that stay are what a killed process leaves, too
	}
	c.s.files.mu.Lock()
	c.seg.img.users--
	c.seg.img.close()
	c.s.files.mu.Unlock()
}

// Commit writes what was appended on the caller's goroutine, syncs where somebody waits for that, and calls the dones. It does nothing when somebody is
// at it already: he sees to what has come meanwhile. Who has to wait for the log anyway calls it to save two changes of goroutine. The caller
// must hold no lock that a done takes.
func (s *Store) Commit() {
	s.mu.Lock()
	if s.turn.taken || len(s.turn.pending) == 0 || s.closed {
		s.mu.Unlock()
		return
	}
	s.takeTurn()
	s.mu.Unlock()
	s.committer.round()
	s.endTurn()
}

// takeTurn gives the committer and what is pending to the caller. Called with mu held.
func (s *Store) takeTurn() {
	c := s.committer
	s.turn.taken = true
	c.taken, s.turn.pending = s.turn.pending, c.taken[:0]
}

// endTurn gives the committer back, and wakes its goroutine when there is something left for it.
func (s *Store) endTurn() {
	s.mu.Lock()
	t := &s.turn
	t.taken, t.due = false, s.committer.due
	earlier := !t.due.IsZero() && (t.alarm.IsZero() || t.due.Before(t.alarm))
	s.wakeIf(len(t.pending) > 0 || s.closed || earlier)
}

// wakeIf wakes the committer's goroutine if that is needed and it sleeps. It releases mu, which the caller holds.
func (s *Store) wakeIf(needed bool) {
	wake := needed && s.turn.asleep
	if wake {
		s.turn.asleep = false
	}
	s.mu.Unlock()
	if wake {
		select {
		case s.wake <- struct{}{}:
		default: // it was told already
		}
	}
}

// await waits for something to do and takes the turn; false when the store is closed and everything is taken. Then the turn is not given back.
func (c *committer) await(timer *time.Timer) bool {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.turn.taken || !c.something() {
		c.sleep(timer)
	}
	s.takeTurn()
	return len(c.taken) > 0 || !s.closed
}

// something tells whether there is anything to do for the committer's goroutine. Called with mu held.
func (c *committer) something() bool {
	t := &c.s.turn
	return len(t.pending) > 0 || c.s.closed || !t.due.IsZero() && !time.Now().Before(t.due)
}

// sleep waits until something is different. Called with mu held, which it lets go meanwhile.
func (c *committer) sleep(timer *time.Timer) {
	s := c.s
	closing := s.closing
	if s.closed {
		closing = nil // only who has the turn can be waited for
	}
	s.turn.asleep, s.turn.alarm = true, time.Time{}
	if !s.turn.taken && !s.turn.due.IsZero() {
		s.turn.alarm = s.turn.due
		timer.Reset(time.Until(s.turn.due))
	}
	alarm := timer.C
	if s.turn.alarm.IsZero() {
		alarm = nil
	}
	s.mu.Unlock()
	select {
	case <-s.wake:
	case <-alarm:
	case <-closing:
	}
	s.mu.Lock()
	s.turn.asleep = false
}
