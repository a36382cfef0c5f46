package statemachine

import (
	"slices"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/store"
)

// With returns the hosts of entries, in lock order.
func (hs Hosts) With(entries []*Entry) (some Hosts) {
	for _, h := range hs {
		if slices.ContainsFunc(entries, func(e *Entry) bool { return e.h == h }) {
			some = append(some, h)
		}
	}
	return some
}

// Append appends a group to the log through log: the entries of shards, followed by those of
// machines, of which there is at least one. durable is called when everything is on disk, and done
// when the machines have applied their entries, each once, possibly with an error. Append returns
// false, and calls neither, if a machine is closed.
func (hs Hosts) Append(group []store.Entry, entries []*Entry, log func([]store.Entry, func(error)), durable, done func(error)) bool {
	hosts := hs.With(entries)
	for _, h := range hosts {
		h.mu.Lock()
		defer h.mu.Unlock() // held so that log order is the order of the indexes
		if h.shut {
			return false
		}
	}
	for _, e := range entries {
		e.h.place(e)
		group = append(group, e.log)
	}
	var left atomic.Int32 // hosts that have not applied their entries
	left.Store(int32(len(hosts)))
	applied := func(_ uint64, err error) {
		if left.Add(-1) == 0 {
			done(err)
		}
	}
	each := make([][]*Entry, len(hosts))
	for i, h := range hosts {
		for _, e := range entries {
			if e.h == h {
				each[i] = append(each[i], e)
			}
		}
		each[i][len(each[i])-1].done = applied
	}
	log(group, func(err error) {
		durable(err)
		for i, h := range hosts {
			h.logged(err, each[i]...)
		}
	})
	return true
}

// Record is Append for a group that consists only of these entries. It returns when they are
// applied. Errors: failure.ErrClosed, failure.ErrLogFailed.
func (hs Hosts) Record(entries []*Entry) error {
	env := entries[0].h.env
	hosts := hs.With(entries)
	own := !slices.ContainsFunc(hosts, func(h *Host) bool { return !h.alone() })
	log := env.Log.Append
	if own {
		log = env.Log.AppendInline
	}
	result := make(chan error, 1)
	if !hs.Append(nil, entries, log, func(error) {}, func(err error) { result <- err }) {
		return failure.ErrClosed
	}
	if own {
		hosts.commit()
	}
	return <-result
}

// Visit applies the ready entries inline, for a caller that waits for them.
func (hs Hosts) Visit() {
	for _, h := range hs {
		h.visit()
	}
}
