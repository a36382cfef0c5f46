package virtual

import (
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
)

// Watcher is an open watch of virtual keys. It holds the events that were not taken; how many there
// can be is bounded.
type Watcher interface {
	// Take returns the events since the last call, oldest first, each with its revision, which
	// never falls, and forgets them; and the revision up to which nothing is missing, at least that
	// of the last event. An error, after the last events, says why the watch has ended: *Compacted,
	// or an error for the client. One goroutine calls it.
	Take() (events []*mvccpb.Event, revision int64, ended error)
	// Close ends the watch; what was not taken is dropped, and ready may still be called. It may
	// take a moment.
	Close()
}

// Compacted is the end of a watch whose client missed events that are not kept any more. It can
// look at the keys and watch again from Revision on.
type Compacted struct{ Revision int64 }

// Error implements error.
func (c *Compacted) Error() string {
	return fmt.Sprintf("events before revision %d are not kept", c.Revision)
}
