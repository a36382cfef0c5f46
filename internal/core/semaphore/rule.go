package semaphore

// Next returns the next transition that the rule requires in the current state; ok is false if
// there is none. It changes nothing: the caller calls SetStatus. No task gets two transitions
// before the rule is satisfied, unless something else changes.
func (s *State) Next() (t Transition, ok bool) {
	if int(s.tree.sum.running()) < s.config.Active && s.tree.sum[Wait] > 0 {
		return s.transition(s.tree.first(Wait), EventAcquired), true
	}
	outranked := int(s.tree.sum.running()) - s.tree.runningAmong(s.config.Active)
	want, asked := min(outranked, s.config.TryRelease), int(s.tree.sum[TryRelease])
	switch {
	case asked > want || asked == want && !s.lastAreAsked():
		return s.transition(s.tree.first(TryRelease), EventRetained), true
	case asked < want:
		return s.transition(s.tree.last(Acquired), EventTryRelease), true
	}
	return Transition{}, false
}

// lastAreAsked reports whether the tasks that are asked to give way are the last of the running
// ones. If not, a more urgent task has started in between: the first of those asked is retained,
// and then another task is asked.
func (s *State) lastAreAsked() bool {
	if s.tree.sum[TryRelease] == 0 || s.tree.sum[Acquired] == 0 {
		return true
	}
	return s.tree.place(s.tree.last(Acquired)).before(s.tree.place(s.tree.first(TryRelease)))
}

func (s *State) transition(it item, e Event) Transition {
	return Transition{Task: s.idOf(s.records.at(it.record())), Event: e}
}
