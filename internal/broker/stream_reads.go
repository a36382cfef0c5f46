package broker

// GroupReads gives entries of several streams to a consumer: when one of the groups is not there, nothing of any.
type GroupReads struct {
	OnQueue
	Reads []*GroupRead // at least one; the answers are in them
}

func (r *GroupReads) find(s *Session) (first *Queue, err error) {
	for _, g := range r.Reads {
		if g.queue, g.Err = g.find(s); g.Err != nil && !g.Missing {
			return nil, g.Err
		}
		if first == nil {
			first, err = g.queue, g.Err
		}
	}
	if first != nil {
		err = nil
	}
	return first, err
}

// others are the streams that are there.
func (r *GroupReads) others(fn func(*Queue)) {
	for _, g := range r.Reads {
		if g.queue != nil {
			fn(g.queue)
		}
	}
}

func (*GroupReads) ofStreams() {}

func (r *GroupReads) run(*shard, *Queue) error {
	all := true
	for _, g := range r.Reads {
		if g.queue == nil {
			all = false
			continue
		}
		if g.queue.gone {
			return errGoneMeanwhile
		}
		_, g.Err = g.group(g.queue.shard, g.queue)
		all = all && g.Err == nil && !g.Missing && !g.NoGroup
	}
	if !all {
		return nil
	}
	for _, g := range r.Reads {
		g.Err = g.run(g.queue.shard, g.queue)
	}
	return nil
}

func (r *GroupReads) finish(s *Session) {
	for _, g := range r.Reads {
		g.finish(s)
	}
}
