package queues

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/protocol/etcd/qkey"
)

// twin models one queue from outside: the unacknowledged messages and the consumers.
type twin struct {
	*world
	rng      *rand.Rand
	limit    int
	live     []uint64            // indexes, in order
	next     uint64              // next index
	watchers map[string]*watcher // by client
	ready    map[uint64]bool     // not held after the last step
}

func (x *twin) key(client string, index uint64) string {
	return fmt.Sprintf("/q/a/c/%s/%s/k", client, i(index))
}

// holders returns which consumer holds which message.
func (x *twin) holders() map[uint64]string {
	x.t.Helper()
	all := map[uint64]string{}
	for _, text := range x.all("/q/a/c/") {
		key, _, _ := strings.Cut(text, "=")
		if p := qkey.Parse([]byte(key)); p.Kind == qkey.Delivery {
			if all[p.Index] != "" {
				x.t.Fatalf("%d is held by %s and %s", p.Index, all[p.Index], p.Client)
			}
			all[p.Index] = string(p.Client)
		}
	}
	return all
}

// check compares the actual with the expected state.
func (x *twin) check() {
	x.t.Helper()
	var want []string
	for _, index := range x.live {
		want = append(want, "/q/a/"+i(index)+"/k=v")
	}
	same(x.t, x.all("/q/a/0"), want...)
	holders, count := x.holders(), map[string]int{}
	for index, client := range holders {
		if count[client]++; x.watchers[client] == nil || !slices.Contains(x.live, index) || count[client] > x.limit {
			x.t.Fatalf("%s holds %d and %d in all", client, index, count[client])
		}
	}
	if want := min(len(x.live), x.limit*len(x.watchers)); len(holders) != want {
		x.t.Fatalf("%d messages are held by %d consumers, want %d", len(holders), len(x.watchers), want)
	}
	delivered, ready := uint64(0), map[uint64]bool{}
	first := uint64(1 << 63)
	for _, index := range x.live {
		switch {
		case holders[index] == "":
			ready[index], first = true, min(first, index)
		case x.ready[index]:
			delivered = max(delivered, index)
		}
	}
	if delivered > first {
		x.t.Fatalf("%d was delivered before %d", delivered, first)
	}
	x.ready = ready
}

func (x *twin) anyone() (client string, ok bool) {
	all := slices.Sorted(maps.Keys(x.watchers))
	if len(all) == 0 {
		return "", false
	}
	return all[x.rng.IntN(len(all))], true
}

func (x *twin) step(n int) {
	client, ok := x.anyone()
	index := uint64(x.rng.IntN(int(x.next)) + 1)
	if len(x.live) > 0 && x.rng.IntN(4) > 0 {
		index = x.live[x.rng.IntN(min(len(x.live), 20))]
	}
	switch k := x.rng.IntN(12); {
	case k < 4:
		x.put("/q/a/p/k", "v")
		x.live, x.next = append(x.live, x.next), x.next+1
	case k == 4 && len(x.watchers) < 6:
		client = fmt.Sprint(n)
		x.watchers[client] = x.watch("/q/a/c/" + client)
	case !ok:
	case k == 5:
		x.watchers[client].Close()
		delete(x.watchers, client)
	case k == 6:
		x.delete("/q/a/c/" + client)
		delete(x.watchers, client)
	case k == 7:
		x.move(client, index)
	default:
		holder := x.holders()[index]
		want := int64(0)
		if holder == client {
			want = 1
			x.live = slices.DeleteFunc(x.live, func(have uint64) bool { return have == index })
		}
		if got := x.delete(x.key(client, index)); got != want {
			x.t.Fatalf("deleted %d of %d, which %q holds, not %s", got, index, holder, client)
		}
	}
}

// move consumes a message and publishes another, if the first still exists.
func (x *twin) move(client string, index uint64) {
	key := []byte(x.key(client, index))
	want := x.holders()[index] == client
	r, err := x.txn(&pb.TxnRequest{
		Compare: []*pb.Compare{{
			Key: key, Target: pb.Compare_VERSION, Result: pb.Compare_GREATER, TargetUnion: &pb.Compare_Version{Version: 0},
		}},
		Success: []*pb.RequestOp{
			{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: &pb.DeleteRangeRequest{Key: key}}},
			{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: []byte("/q/a/p/k"), Value: []byte("v")}}},
		},
	})
	must(x.t, err)
	if r.Succeeded != want || want && r.Responses[0].GetResponseDeleteRange().Deleted != 1 {
		x.t.Fatalf("a transaction on what is held (%v): %v", want, r)
	}
	if want {
		x.live = append(slices.DeleteFunc(x.live, func(have uint64) bool { return have == index }), x.next)
		x.next++
	}
}

// However consumers come and go, every message is held by one of them or by none, in order, until
// it is acknowledged.
func TestTwin(t *testing.T) {
	for seed := range uint64(5) {
		w := newWorld(t, func(o *settings) { o.ConsumerLimit = 3 })
		x := &twin{world: w, rng: rand.New(rand.NewPCG(seed, 1)), limit: 3, next: 1, watchers: map[string]*watcher{}}
		for n := range 400 {
			x.step(n)
			x.check()
		}
	}
}

// acknowledged records the answers of a batcher.
type acknowledged struct {
	done func(deleted bool)
}

func (a acknowledged) DeleteDone(deleted bool, _ int64, err error) {
	a.done(deleted && err == nil)
}

type answered chan error

func (a answered) PutDone(_ int64, err error) { a <- err }

// Consumers that concurrently work, die and return acknowledge every message once.
func TestConcurrentConsumers(t *testing.T) {
	const messages, consumers = 2000, 8
	w := newWorld(t, func(o *settings) { o.ConsumerLimit = 10 })
	var mu sync.Mutex
	acknowledgements := map[string]int{}
	left := make(chan struct{})
	var work sync.WaitGroup
	for n := range consumers {
		who := w.caller("guest")
		work.Go(func() {
			rng, batcher := rand.New(rand.NewPCG(uint64(n), 2)), w.batcher(who)
			for {
				x, err := w.watchWith(who, &pb.WatchCreateRequest{Key: []byte(fmt.Sprintf("/q/a/c/%d", n))})
				if err != nil {
					t.Error(err)
					return
				}
				for alive := true; alive; {
					select {
					case <-x.wake:
					case <-left:
						x.Close()
						return
					}
					events, _, _ := x.Take()
					var answers sync.WaitGroup
					for _, e := range events {
						value := string(e.Kv.Value)
						if rng.IntN(20) == 0 {
							alive = false // it dies before this one
							continue
						}
						answers.Add(1)
						ok := batcher.StartDelete(e.Kv.Key, acknowledged{func(deleted bool) {
							defer answers.Done()
							if !deleted {
								return
							}
							mu.Lock()
							defer mu.Unlock()
							if acknowledgements[value]++; len(acknowledgements) == messages {
								close(left)
							}
						}})
						if !ok {
							answers.Done()
						}
					}
					batcher.Flush()
					answers.Wait()
				}
				x.Close()
			}
		})
	}
	batcher := w.batcher(w.who)
	w.put("/q/a/p/k", "0")
	done := make(answered, messages)
	for n := 1; n < messages; n++ {
		if !batcher.StartPut([]byte("/q/a/p/k"), fmt.Append(nil, n), done) {
			t.Fatal("the batcher takes no put")
		}
		if n%7 == 0 {
			batcher.Flush()
		}
	}
	batcher.Flush()
	for range messages - 1 {
		must(t, <-done)
	}
	work.Wait()
	for n := range messages {
		if got := acknowledgements[fmt.Sprint(n)]; got != 1 {
			t.Errorf("message %d was acknowledged %d times", n, got)
		}
	}
}
