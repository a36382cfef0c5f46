package virtual

import (
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
)

// Watcher is an open watch of virtual keys. It holds the events that were not taken yet, whose
// number is bounded.
type Watcher interface {
	// Take removes and returns the pending events, oldest first, with ascending revisions. revision
	// is the one up to which nothing is missing, at least that of the last event. An error,
	// returned with the last events, is the reason why the watch has ended: *Compacted, or an error
	// for the client. Only one goroutine may call Take.
	Take() (events []*mvccpb.Event, revision int64, ended error)
	// Close ends the watch and drops pending events. ready may still be called. Close may take a
	// moment.
	Close()
}

// Compacted is the error of a watch whose client missed events that are no longer kept. The client
// can read the keys and watch again from Revision on.
type Compacted struct{ Revision int64 }

// Error implements error.
func (c *Compacted) Error() string {
	return fmt.Sprintf("events before revision %d are not kept", c.Revision)
}
