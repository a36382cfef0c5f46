package streams

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
)

// GroupReads delivers entries of several streams to a consumer. If one of the groups does not
// exist, it delivers nothing.
type GroupReads struct {
	broker.OnQueue
	Reads []*GroupRead // at least one; they hold the results
}

// Find implements broker.Command.
func (r *GroupReads) Find(f broker.Finder) (first *shard.Queue, err error) {
	for _, g := range r.Reads {
		if f.Find(g) != nil && !g.Missing {
			return nil, g.Err
		}
		if first == nil {
			first, err = g.Found(), g.Err
		}
	}
	if first != nil {
		err = nil
	}
	return first, err
}

// Others appends the streams that exist.
func (r *GroupReads) Others(dst []*shard.Queue) []*shard.Queue {
	for _, g := range r.Reads {
		if q := g.Found(); q != nil {
			dst = append(dst, q)
		}
	}
	return dst
}

// OfStreams marks a command for streams.
func (*GroupReads) OfStreams() {}

// Run implements broker.Command.
func (r *GroupReads) Run(at shard.Context) error {
	all := true
	for _, g := range r.Reads {
		if g.Found() == nil {
			all = false
			continue
		}
		of := at.Other(g.Found())
		if of.Gone() {
			return broker.ErrFindAgain
		}
		_, g.Err = g.group(of)
		all = all && g.Err == nil && !g.Missing && !g.NoGroup
	}
	if !all {
		return nil
	}
	for _, g := range r.Reads {
		g.Err = g.Run(at.Other(g.Found()))
	}
	return nil
}

// Finish reads bodies that are only on disk.
func (r *GroupReads) Finish(s *broker.Session) {
	for _, g := range r.Reads {
		g.Finish(s)
	}
}
