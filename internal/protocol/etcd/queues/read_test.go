package queues

import (
	"fmt"
	"slices"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/lists"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
)

// A range is limited, counted, filtered and sorted as in etcd.
func TestRangeOptions(t *testing.T) {
	w := newWorld(t, nil)
	for n := range 600 {
		w.put(fmt.Sprintf("/q/a/p/%d", n+1), fmt.Sprint(1000-n))
	}
	w.put("/q/b/p/k", "v")
	whole := func(change func(*pb.RangeRequest)) *pb.RangeResponse {
		t.Helper()
		r := &pb.RangeRequest{Key: []byte("/q/a/"), RangeEnd: []byte("/q/a0")}
		change(r)
		resp, err := w.n.Range(w.who, r)
		must(t, err)
		return resp
	}
	for name, tc := range map[string]struct {
		change      func(*pb.RangeRequest)
		first, last int // of the returned messages; 0: none
		n           int
		count       int64
		more        bool
	}{
		"all":          {func(*pb.RangeRequest) {}, 1, 600, 600, 600, false},
		"limit":        {func(r *pb.RangeRequest) { r.Limit = 5 }, 1, 5, 5, 600, true},
		"wide limit":   {func(r *pb.RangeRequest) { r.Limit = 600 }, 1, 600, 600, 600, false},
		"from":         {func(r *pb.RangeRequest) { r.Key = []byte("/q/a/" + i(300)); r.Limit = 2 }, 300, 301, 2, 301, true},
		"to":           {func(r *pb.RangeRequest) { r.RangeEnd = []byte("/q/a/" + i(4)) }, 1, 3, 3, 3, false},
		"short index":  {func(r *pb.RangeRequest) { r.Key, r.RangeEnd = []byte("/q/a/7/"), []byte("/q/a/9/") }, 7, 8, 2, 2, false},
		"count":        {func(r *pb.RangeRequest) { r.CountOnly = true }, 0, 0, 0, 600, false},
		"part counted": {func(r *pb.RangeRequest) { r.CountOnly, r.Key = true, []byte("/q/a/"+i(501)) }, 0, 0, 0, 100, false},
		"descending":   {func(r *pb.RangeRequest) { r.SortOrder, r.Limit = pb.RangeRequest_DESCEND, 3 }, 600, 598, 3, 600, true},
		"by value": {func(r *pb.RangeRequest) {
			r.SortTarget, r.SortOrder, r.Limit = pb.RangeRequest_VALUE, pb.RangeRequest_ASCEND, 2
		}, 1, 600, 2, 600, true},
		"min mod":    {func(r *pb.RangeRequest) { r.MinModRevision, r.Limit = 599, 9 }, 599, 600, 2, 600, false},
		"max create": {func(r *pb.RangeRequest) { r.MaxCreateRevision = 2 }, 1, 2, 2, 600, false},
		"nothing":    {func(r *pb.RangeRequest) { r.Key, r.RangeEnd = []byte("/q/a/p/"), []byte("/q/a/p0") }, 0, 0, 0, 0, false},
	} {
		resp := whole(tc.change)
		if resp.Count != tc.count || resp.More != tc.more || len(resp.Kvs) != tc.n {
			t.Errorf("%s: %d keys, count %d, more %v", name, len(resp.Kvs), resp.Count, resp.More)
			continue
		}
		if tc.n == 0 {
			continue
		}
		for _, end := range []struct{ at, index int }{{0, tc.first}, {tc.n - 1, tc.last}} {
			want := fmt.Sprintf("/q/a/%s/%d", i(uint64(end.index)), end.index)
			if kv := resp.Kvs[end.at]; string(kv.Key) != want || string(kv.Value) != fmt.Sprint(1001-end.index) {
				t.Errorf("%s: %q at %d, want %q", name, kv.Key, end.at, want)
			}
		}
	}
	for _, kv := range whole(func(r *pb.RangeRequest) { r.KeysOnly = true }).Kvs {
		if kv.Value != nil {
			t.Fatal("a value among keys")
		}
	}
	resp, err := w.n.Range(w.who, &pb.RangeRequest{Key: []byte("/q/"), RangeEnd: []byte("/q0"), Limit: 1})
	must(t, err)
	if resp.Count != 603 || !resp.More || string(resp.Kvs[0].Key) != "/q/a" {
		t.Fatalf("of all queues: %v", resp)
	}
}

// Ranges over a part of the messages, page by page, return the same keys and counts as reading them
// one by one.
func TestRangePages(t *testing.T) {
	w := newWorld(t, nil)
	const messages = 3000
	d := w.batcher(w.who)
	w.put("/q/a", "")
	done := make(answered, messages)
	for range messages {
		if !d.StartPut([]byte("/q/a/p/k"), nil, done) {
			t.Fatal("the batcher takes nothing")
		}
	}
	d.Flush()
	for range messages {
		must(t, <-done)
	}
	w.watch("/q/a/c/w")
	w.delete("/q/a/c/w/100/k")
	w.deleteAll("/q/a/c/w/0000000000000000012")
	all := w.all("/q/a/0")
	if len(all) != messages-11 {
		t.Fatalf("%d messages", len(all))
	}
	for _, bound := range []string{"/q/a/:", "/q/a/c", "/q/a/" + i(99) + "/k", "/q/a/" + i(126), "/q/a/000000000000000029", "/q/a/" + i(2000) + "/l"} {
		end, _ := slices.BinarySearch(all, bound)
		var got []string
		for from := "/q/a/0"; ; {
			left := end - len(got)
			r, err := w.n.Range(w.who, &pb.RangeRequest{Key: []byte(from), RangeEnd: []byte(bound), CountOnly: true})
			must(t, err)
			if int(r.Count) != left {
				t.Fatalf("%q to %q: %d counted of %d", from, bound, r.Count, left)
			}
			r, err = w.n.Range(w.who, &pb.RangeRequest{Key: []byte(from), RangeEnd: []byte(bound), Limit: 130})
			must(t, err)
			if int(r.Count) != left || r.More != (left > 130) {
				t.Fatalf("%q to %q: %d keys, count %d of %d, more %v", from, bound, len(r.Kvs), r.Count, left, r.More)
			}
			if got = append(got, texts(r.Kvs)...); !r.More {
				break
			}
			from = string(r.Kvs[len(r.Kvs)-1].Key) + "\x00"
		}
		same(t, got, all[:end]...)
	}
}

// An answer that would be too large is refused. Counts and limits still work.
func TestRangeTooLarge(t *testing.T) {
	w := newWorld(t, nil)
	s, err := w.b.Operate("/")
	must(t, err)
	body := make([]byte, 1<<20)
	for range 66 {
		p := &lists.Push{OnQueue: broker.OnQueue{Queue: "a"}, Bodies: [][]byte{body}, Create: true}
		must(t, s.Do(p))
		must(t, p.Err)
	}
	r := &pb.RangeRequest{Key: []byte("/q/a/"), RangeEnd: []byte("/q/a0")}
	_, err = w.n.Range(w.who, r)
	wantCode(t, err, codes.ResourceExhausted)
	r.Limit = 2
	resp, err := w.n.Range(w.who, r)
	must(t, err)
	if resp.Count != 66 || len(resp.Kvs) != 2 {
		t.Fatalf("%d keys of %d", len(resp.Kvs), resp.Count)
	}
	r.Limit, r.KeysOnly = 0, true
	resp, err = w.n.Range(w.who, r)
	must(t, err)
	if len(resp.Kvs) != 66 {
		t.Fatalf("%d keys", len(resp.Kvs))
	}
}

// If messages have priorities, keys are still sorted by name.
func TestRangeWithPriorities(t *testing.T) {
	w := newWorld(t, nil)
	s := w.who.Session
	policy := catalog.DefaultQueuePolicy()
	policy.MaxPriority = 9
	_, err := s.DeclareQueue(catalog.QueueSpec{Name: "a", Durable: true, Policy: policy})
	must(t, err)
	targets, err := s.To([]byte("a"))
	must(t, err)
	for n, priority := range []uint8{1, 0, 5, 0} {
		props := (&message.Properties{Flags: message.HasMessageID, MessageID: fmt.Sprint(n)}).Append(nil)
		env := append(message.AppendEnvelopeHeader(nil, "", "a", props), 'v')
		done := make(confirmation, 1)
		s.Publish(&shard.Publish{Targets: targets, Env: env, Persistent: true, Priority: priority, TTL: -1, Confirm: done})
		s.Flush()
		<-done
	}
	at := func(priority, n uint64) string { return i(priority<<56 | n) }
	want := []string{"/q/a/" + at(0, 1) + "/1=v", "/q/a/" + at(0, 2) + "/3=v", "/q/a/" + at(1, 1) + "/0=v", "/q/a/" + at(5, 1) + "/2=v"}
	same(t, w.all("/q/a/"), want...)
	r, err := w.n.Range(w.who, &pb.RangeRequest{Key: []byte("/q/a/"), RangeEnd: []byte("/q/a0"), Limit: 2})
	must(t, err)
	same(t, texts(r.Kvs), want[:2]...)
	same(t, w.get("/q/a/"+at(5, 1)+"/2", ""), "/q/a/"+at(5, 1)+"/2=v")
	x := w.watch("/q/a/c/w")
	same(t, x.next(2), "/q/a/c/w/"+at(5, 1)+"/2=v", "/q/a/c/w/"+at(1, 1)+"/0=v")
}
