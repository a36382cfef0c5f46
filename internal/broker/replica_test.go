package broker

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"

	"fiveways.dev/fiveways/internal/broker/followtest"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// followed runs use on a broker, and then fn on a replica that has followed it to the end.
func followed(t *testing.T, use func(*client), fn func(r *Replica, st *store.Store, disk *vfs.Mem)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var log *followtest.Log
		mem := vfs.NewMem()
		b := openBroker(t, mem, func(o *Options) {
			o.WrapLog = func(st *store.Store) shardlog.Log {
				log = followtest.New(st, crashed(mem))
				return log
			}
		})
		c := newClient(t, b)
		use(c)
		c.Close()
		syncAll(t, b)
		mustClose(t, b)
		var r *Replica
		open := func(st *store.Store, fs vfs.FS) (_ followtest.Replica, err error) {
			r, err = OpenReplica(st, fs, "data", replicaOptions)
			return r, err
		}
		must(t, log.Follow("data", open, func(st *store.Store) { fn(r, st, r.b.fs.(*vfs.Mem)) }))
	})
}

var replicaOptions = Options{Logger: slog.New(slog.DiscardHandler), DiskFreeLimit: -1, Shards: 2}

// A replica that followed a broker continues from its state, and can be restored after it is
// abandoned.
func TestReplicaLeads(t *testing.T) {
	followed(t, func(c *client) {
		c.queue("stays", nil)
		c.queue("limited", func(s *QueueSpec) { s.Policy.MaxLength = 2 })
		c.queue("goes", nil)
		for i := range 5 {
			for _, q := range []string{"stays", "limited", "goes"} {
				c.put("", q, fmt.Sprint(q, i), nil)
			}
		}
		for range 2 {
			_, _, _, err := c.Get("stays", true)
			must(c.t, err)
		}
		_, err := c.DeleteQueue("goes", false, false)
		must(c.t, err)
		c.queue("goes", nil) // another one
		c.put("", "goes", "new", nil)
	}, func(r *Replica, st *store.Store, disk *vfs.Mem) {
		b, err := r.Lead(st)
		must(t, err)
		c := newClient(t, b)
		c.put("", "stays", "after", nil)
		sameStrings(t, c.drain("stays"), "stays2", "stays3", "stays4", "after")
		sameStrings(t, c.drain("limited"), "limited3", "limited4")
		sameStrings(t, c.drain("goes"), "new")
		c.put("", "goes", "last", nil)
		c.Close()
		must(t, b.Sync())
		want, err := b.stateHash()
		must(t, err)
		must(t, b.Abandon())
		if _, err := b.Hash(); !errors.Is(err, failure.ErrClosed) {
			t.Errorf("an abandoned broker answers: %v", err)
		}
		again, err := OpenReplica(st, disk, "data", replicaOptions)
		must(t, err)
		if again.Hash() != want {
			t.Error("what an abandoned broker had made durable is not what it was")
		}
	})
}

// lostLog accepts entries until it is lost: then open and later appends get an error.
type lostLog struct {
	shardlog.Log

	mu   sync.Mutex
	err  error // set when it is lost
	open []func(error)
}

func (l *lostLog) Append(_ []store.Entry, done func(error)) {
	l.mu.Lock()
	err := l.err
	if err == nil {
		l.open = append(l.open, done)
	}
	l.mu.Unlock()
	if err != nil {
		done(err)
	}
}

func (l *lostLog) AppendInline(group []store.Entry, done func(error)) { l.Append(group, done) }

func (l *lostLog) Barrier(_ []uint32, _ store.Wait, done func(error)) { l.Append(nil, done) }

func (l *lostLog) State() store.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return store.State{Health: store.Failed, Err: l.err}
	}
	return store.State{}
}

func (l *lostLog) lose() {
	l.mu.Lock()
	l.err = errors.New("leadership was lost")
	open := l.open
	l.open = nil
	l.mu.Unlock()
	for _, done := range open {
		done(l.err)
	}
}

// State known only to an abandoned broker, and not durable, is neither answered nor kept.
func TestAbandonedBrokerLeavesNothing(t *testing.T) {
	followed(t, func(c *client) {
		c.queue("q", nil)
		c.put("", "q", "durable", nil)
	}, func(r *Replica, st *store.Store, disk *vfs.Mem) {
		before := r.Hash()
		log := &lostLog{Log: st}
		b, err := r.Lead(log)
		must(t, err)
		c := newClient(t, b)
		sameStrings(t, c.drain("q"), "durable")
		seq := c.post("", "q", "unknown", nil)
		c.Flush()
		synctest.Wait()
		if c.acks[seq]+c.nacks[seq] > 0 {
			t.Error("a publish is answered while its entry is open")
		}
		log.lose()
		c.until(func() bool { return c.nacks[seq] == 1 })
		c.Close()
		must(t, b.Abandon())
		again, err := OpenReplica(st, disk, "data", replicaOptions)
		must(t, err)
		if again.Hash() != before {
			t.Error("an abandoned broker left something in the store")
		}
	})
}

// A replica keeps as little of long queues in memory as a broker does.
func TestReplicaPacksQueues(t *testing.T) {
	const messages = 20_000
	followed(t, func(c *client) {
		c.queue("q", nil)
		for range messages {
			c.post("", "q", "m", nil)
		}
		c.Flush()
		c.put("", "q", "last", nil)
	}, func(r *Replica, st *store.Store, disk *vfs.Mem) {
		v, _ := r.b.vhost("/")
		q, _ := v.Queue("q")
		before := shard.ContextOf(q).Deliveries().HotBytes()
		r.b.set.MemoryLimit = 64 << 10
		r.pack()
		if after := r.b.set.Memory.Load(); after == 0 || after >= before/2 {
			t.Errorf("%d messages take %d bytes, packed %d", messages, before, after)
		}
	})
}

// Checkpoints of a replica cover what it has applied.
func TestReplicaCheckpoints(t *testing.T) {
	want := uint64(0)
	followed(t, func(c *client) {
		c.queue("q", nil)
		for i := range 20 {
			c.put("", "q", fmt.Sprint(i), nil)
		}
		_, _, _, err := c.Get("q", true)
		must(c.t, err)
		must(c.t, c.b.Sync())
		want, err = c.b.stateHash()
		must(c.t, err)
	}, func(r *Replica, st *store.Store, disk *vfs.Mem) {
		write := r.Checkpoint(1)
		if write == nil {
			t.Fatal("no checkpoint is due")
		}
		must(t, write())
		if r.Checkpoint(1) != nil {
			t.Error("a checkpoint is due although nothing was applied since the last one")
		}
		for _, id := range []uint32{1, 2} {
			if c, _, err := st.Checkpoint(id); err != nil || c == nil {
				t.Errorf("shard %d has no checkpoint, %v", id, err)
			} else {
				must(t, c.Close())
			}
		}
		if got, err := ReplayedHash(crashed(disk), "data", replicaOptions); err != nil || got != want {
			t.Errorf("the checkpoints of a replica give another state, %v", err)
		}
	})
}
