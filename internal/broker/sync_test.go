package broker

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Each queue's confirms wait as the queue's setting requires, whatever the broker's mode. A message
// for several queues waits for the strictest.
func TestSyncOfAQueue(t *testing.T) {
	const delay = 7 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		for _, mode := range []store.SyncMode{store.SyncAlways, store.SyncBatch, store.SyncOS} {
			b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Sync, o.BatchDelay, o.Shards = mode, delay, 1 })
			c := newClient(t, b)
			must(t, c.DeclareExchange(ExchangeSpec{Name: "all", Type: "fanout", Durable: true}))
			for name, choice := range map[string]SyncChoice{"always": SyncAlways, "batch": SyncBatch, "os": SyncOS, "default": SyncDefault} {
				c.queue(name, func(s *QueueSpec) { s.Policy.Sync = choice })
			}
			for _, name := range []string{"batch", "os"} {
				must(t, c.Bind(BindSpec{Source: "all", Destination: name}))
			}
			must(t, b.set.Store.SyncNow())
			wantDefault := map[store.SyncMode]time.Duration{store.SyncBatch: delay}[mode]
			for _, tc := range []struct {
				exchange, key string
				took          time.Duration
				synced        bool // before the confirm
			}{
				{"", "always", 0, true},
				{"", "batch", delay, true},
				{"", "os", 0, false},
				{"", "default", wantDefault, mode != store.SyncOS},
				{"all", "", delay, true},
			} {
				syncs, start := b.Stats().Log.Syncs, time.Now()
				c.put(tc.exchange, tc.key, "x", nil)
				if took := time.Since(start); took != tc.took {
					t.Errorf("mode %d, %s%s: confirmed after %v, want %v", mode, tc.exchange, tc.key, took, tc.took)
				}
				if synced := b.Stats().Log.Syncs > syncs; synced != tc.synced {
					t.Errorf("mode %d, %s%s: synced %t, want %t", mode, tc.exchange, tc.key, synced, tc.synced)
				}
				time.Sleep(1100 * time.Millisecond) // written data is synced after a second
			}
			c.Close()
			mustClose(t, b)
		}
	})
}

// A confirm that waits only for the write becomes a rejection if the write fails.
func TestSyncOSRefusesWhenTheWriteFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewErrors(vfs.NewMem())
		b := openBroker(t, fs, func(o *Options) { o.Shards = 1 })
		c := newClient(t, b)
		c.queue("q", func(s *QueueSpec) { s.Policy.Sync = SyncOS })
		syncAll(t, b) // the shard's first entry waits for a sync
		fs.FailSync(errors.New("input/output error"))
		c.put("", "q", "written", nil)
		if c.acks[c.seq] != 1 {
			t.Error("a message that is written was refused")
		}
		time.Sleep(time.Second) // the background sync fails, and with it the log
		c.put("", "q", "not written", nil)
		if c.nacks[c.seq] != 1 {
			t.Error("a message that is not written was confirmed")
		}
		c.Close()
		if b.Close() == nil {
			t.Error("a clean end was reported")
		}
	})
}
