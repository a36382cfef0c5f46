// Package followtest has tests of the engine compare a broker with a replica that followed it.
package followtest

import (
	"errors"
	"log/slog"
	"slices"
	"sync"

	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Replica is the part of broker.Replica that is compared.
type Replica interface {
	Apply(batch []store.Entry) error
}

// Log is a log that keeps a copy of what is durable in it.
type Log struct {
	shardlog.Log
	start *vfs.Mem // the data folder before

	mu      sync.Mutex
	batches [][]store.Entry
}

// New returns a Log on a log. start is the data folder before anything is appended.
func New(log shardlog.Log, start *vfs.Mem) *Log { return &Log{Log: log, start: start} }

// Append implements shardlog.Log.
func (l *Log) Append(group []store.Entry, done func(error)) { l.Log.Append(group, l.kept(group, done)) }

// AppendInline implements shardlog.Log.
func (l *Log) AppendInline(group []store.Entry, done func(error)) {
	l.Log.AppendInline(group, l.kept(group, done))
}

func (l *Log) kept(group []store.Entry, done func(error)) func(error) {
	batch := make([]store.Entry, len(group))
	for i := range group {
		e := &group[i]
		batch[i] = store.Entry{Shard: e.Shard, Index: e.Index, Data: slices.Clone(e.Data)} // its references count when it is applied
	}
	return func(err error) {
		if err == nil {
			l.mu.Lock()
			l.batches = append(l.batches, batch)
			l.mu.Unlock()
		}
		done(err)
	}
}

// Cut is the log as it is now: a replica that follows it does not see what is appended later.
func (l *Log) Cut() *Log {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &Log{start: l.start, batches: slices.Clone(l.batches)}
}

// Follow has a replica, which open opens on a copy of the folder as it was, apply all that was
// appended since. fn looks at it afterwards; the store is open until it returns.
func (l *Log) Follow(dir string, open func(*store.Store, vfs.FS) (Replica, error), fn func(*store.Store)) error {
	st, err := store.Open(l.start, dir, store.Options{Sync: store.SyncOS, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	r, err := open(st, l.start)
	var log shardlog.Log = st
	l.mu.Lock()
	batches := l.batches
	l.mu.Unlock()
	for i := 0; i < len(batches) && err == nil; i++ {
		written := make(chan error, 1)
		log.Append(batches[i], func(err error) { written <- err })
		if err = <-written; err == nil { // a node applies what is in its log
			err = r.Apply(batches[i])
		}
	}
	if err == nil {
		fn(st)
	}
	return errors.Join(err, st.Close())
}
