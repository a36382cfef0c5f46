package keyspace

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"google.golang.org/protobuf/proto"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/keyspace/grants"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

var (
	_ Log                  = (*statemachine.Host)(nil)
	_ statemachine.Machine = (*Store)(nil)
)

// node is a store in the log of a broker.
type node struct {
	*Store
	b  *broker.Broker
	fs vfs.FS
}

func openNode(fs vfs.FS, o Options) (*node, error) {
	s := New(o)
	b, err := broker.Open(fs, "data", broker.Options{
		StateMachines: map[uint32]statemachine.Machine{statemachine.Keys: s}, Shards: 1, SegmentBytes: 8 << 10, CheckpointBytes: 4 << 10, DiskFreeLimit: -1, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	n := &node{s, b, fs}
	if err := s.Start(b.StateMachine(statemachine.Keys)); err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

// close also fails if a replay of the log leads to other keys.
func (n *node) close() error {
	n.Stop()
	live, _, err := n.HashKV(context.Background(), 0) // Hash depends on compaction, too
	if err = errors.Join(err, n.b.Close(), n.Store.Close()); err != nil || n.fs == nil || n.b.Stats().LogState.Health != store.Healthy {
		return err
	}
	again := New(Options{})
	o := broker.Options{StateMachines: map[uint32]statemachine.Machine{statemachine.Keys: again}, Logger: slog.New(slog.DiscardHandler)}
	err = broker.Replay(n.fs, "data", o, func(broker.Replayed) error {
		replayed, _, err := again.HashKV(context.Background(), 0)
		if err == nil && replayed != live {
			return errors.New("the keys differ from those of a replay of the log")
		}
		return err
	})
	return errors.Join(err, again.Close())
}

// A hundred concurrent changes through the broker's log: each gets its own answer, the last
// revision is their number, and a restart finds them.
func TestConcurrentChanges(t *testing.T) {
	fs := vfs.NewMem()
	n, err := openNode(fs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	seen := map[int64]bool{}
	note := func(x *Result, err error) {
		defer all.Done()
		mu.Lock()
		defer mu.Unlock()
		if err != nil || x.Err != nil {
			t.Error(err, x)
			return
		}
		seen[x.Resp.(*pb.PutResponse).Header.Revision] = true
	}
	for i := range 100 {
		r := &pb.InternalRaftRequest{Put: &pb.PutRequest{Key: []byte{byte(i)}, Value: []byte("v")}}
		all.Add(1)
		if i%2 == 0 {
			b := n.NewBatch()
			if !b.Add(grants.Info{}, r, note) {
				t.Error("a put was not taken")
			}
			b.Flush(i%4 == 0)
		} else {
			go func() { note(n.Propose(context.Background(), r)) }()
		}
	}
	all.Wait()
	if len(seen) != 100 || n.KV().Rev() != 101 {
		t.Errorf("%d revisions answered, the last is %d", len(seen), n.KV().Rev())
	}
	id, want := n.MemberID(), hashKV(t, n.KV())
	if err := n.close(); err != nil {
		t.Fatal(err)
	}
	if n, err = openNode(fs, Options{Name: "renamed"}); err != nil {
		t.Fatal(err)
	}
	if got := hashKV(t, n.KV()); got != want || id == 0 || n.MemberID() != id {
		t.Errorf("after a start %+v member %x, want %+v member %x", got, n.MemberID(), want, id)
	}
	if err := n.close(); err != nil {
		t.Fatal(err)
	}
}

// TestCrashAtEveryOperation makes each disk operation in turn the last one. After the restart the
// state is the one after one of the changes, and not before one that was answered.
func TestCrashAtEveryOperation(t *testing.T) {
	script, states := crashScript(t)
	for k := 1; ; k++ {
		mem := vfs.NewMem()
		fs := vfs.NewErrors(mem)
		fs.CrashAt(k)
		answered := 0
		if n, err := openNode(fs, Options{}); err == nil {
			for _, r := range script {
				if _, err := n.Propose(context.Background(), proto.Clone(r).(*pb.InternalRaftRequest)); err != nil {
					break
				}
				answered++
			}
			_ = n.close() // fails after the crash
		}
		n, err := openNode(mem.CrashClone(rand.New(rand.NewPCG(uint64(k), 1))), Options{})
		if err != nil {
			t.Fatalf("crash at operation %d: cannot open: %v", k, err)
		}
		if got := hashKV(t, n.KV()); !isOneOf(got, states[answered:min(answered+2, len(states))]) {
			t.Fatalf("crash at operation %d after %d answers: %+v is none of the states from then on", k, answered, got)
		}
		put(t, n.Store, "after", "crash")
		if err := n.close(); err != nil {
			t.Fatal(err)
		}
		if !fs.Crashed() {
			t.Logf("survived with %d operations", k-1)
			return
		}
	}
}

// crashScript returns random changes, and the hashes of the keys before each of them and after the
// last.
func crashScript(t *testing.T) (script []*pb.InternalRaftRequest, states []mvcc.KeyValueHash) {
	s, _ := open(t, Options{})
	o := &ops{rng: rand.New(rand.NewPCG(5, 5))}
	states = append(states, hashKV(t, s.KV()))
	for range 40 {
		o.rev = s.KV().Rev()
		r := o.change()
		script = append(script, proto.Clone(r).(*pb.InternalRaftRequest))
		if _, err := s.Propose(context.Background(), r); err != nil {
			t.Fatal(err)
		}
		states = append(states, hashKV(t, s.KV()))
	}
	return script, states
}

func isOneOf(h mvcc.KeyValueHash, all []mvcc.KeyValueHash) bool {
	for _, a := range all {
		if a == h {
			return true
		}
	}
	return false
}

// An unreadable entry makes the start fail with an error, and no checkpoint covers it.
func TestUnreadableEntry(t *testing.T) {
	for name, entry := range map[string][]byte{"no message": {0xff}, "nothing asked": {}, "from another version": {0xfa, 0xff, 0x01, 0x00}} {
		s := New(Options{})
		s.Apply(1, entry)
		if err := s.Start(&fakeLog{store: s}); !errors.Is(err, ErrEntry) {
			t.Errorf("%s: Start returned %v", name, err)
		}
		if _, write := s.Freeze(); write(io.Discard) == nil {
			t.Errorf("%s: a checkpoint was written", name)
		}
		_ = s.Close()
	}
}
