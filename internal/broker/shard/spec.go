package shard

import (
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/selector"
	"fiveways.dev/fiveways/internal/storage/store"
)

// syncWait returns what a publisher confirm waits for in a sync mode.
func syncWait(s catalog.SyncChoice, mode store.SyncMode) store.Wait {
	switch s {
	case catalog.SyncAlways:
		mode = store.SyncAlways
	case catalog.SyncBatch:
		mode = store.SyncBatch
	case catalog.SyncOS:
		mode = store.SyncOS
	}
	return mode.Wait()
}

// QueueInfo is the answer to a declaration.
type QueueInfo struct {
	Name      string
	Ready     int
	Consumers int
}

// ConsumerSpec describes a consumer to register.
type ConsumerSpec struct {
	Queue     string
	Tag       string
	NoAck     bool
	Exclusive bool
	Prefetch  int                // most unsettled deliveries at a time, 0 = no limit
	Priority  int                // higher ones are served first
	Selector  *selector.Selector // only messages that match, nil = all
	Limit     *Limit             // a further limit shared by several consumers, or nil
	Data      any                // the protocol's own
	Channel   int                // of the connection, for operators; 0: the protocol has no channels
	Args      message.Table      // as the client gave them, for operators
	Reader    Reader             // reads a declared stream; nil: it consumes. A reader has a Prefetch, and no Limit
	Started   func()             // runs before the first delivery, on the shard's goroutine
}
