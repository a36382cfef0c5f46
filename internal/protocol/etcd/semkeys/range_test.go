package semkeys

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
	"fiveways.dev/fiveways/internal/semaphores"
)

// Every range, with any limit, returns what etcd would return for a store with these keys.
func TestRanges(t *testing.T) {
	w := newWorld(t)
	var keys []string
	for _, semaphore := range []string{"a", "a!", "a%2Fb", "ab", "b", "é", "~"} {
		key := "/semaphore/" + semaphore
		w.put(key, "")
		keys = append(keys, key)
		for _, task := range []string{"1", "10", "2", "a", "a/b", "%", "ÿ", strings.Repeat("x", 255)} {
			w.put(key+"/"+task, "1")
			keys = append(keys, key+"/"+task)
		}
	}
	slices.Sort(keys)
	rng := rand.New(rand.NewPCG(7, 7))
	bound := func() []byte {
		b := []byte(keys[rng.IntN(len(keys))])
		switch rng.IntN(4) {
		case 0:
			b = b[:len(root)+rng.IntN(len(b)-len(root)+1)]
		case 1:
			b = append(b, 0)
		case 2:
			b = after(b)
		}
		return b
	}
	for range 3000 {
		r := &pb.RangeRequest{Key: bound(), RangeEnd: bound(), Limit: int64(rng.IntN(12)), CountOnly: rng.IntN(8) == 0, KeysOnly: rng.IntN(4) == 0}
		switch rng.IntN(4) {
		case 0:
			r.RangeEnd = []byte{0}
		case 1:
			r.RangeEnd = prefixEnd(string(r.Key))
		}
		if rng.IntN(4) == 0 {
			r.SortOrder, r.SortTarget = pb.RangeRequest_DESCEND, pb.RangeRequest_KEY
		}
		var want []string
		for _, key := range keys {
			if key >= string(r.Key) && (len(r.RangeEnd) == 1 && r.RangeEnd[0] == 0 || key < string(r.RangeEnd)) {
				want = append(want, key)
			}
		}
		count := len(want)
		if r.SortOrder == pb.RangeRequest_DESCEND {
			slices.Reverse(want)
		}
		more := r.Limit > 0 && count > int(r.Limit)
		if more {
			want = want[:r.Limit]
		}
		if r.CountOnly {
			want, more = nil, false
		}
		resp := w.ask(r)
		var got []string
		for _, kv := range resp.Kvs {
			got = append(got, string(kv.Key))
			if (len(kv.Value) == 0) != r.KeysOnly {
				t.Fatalf("%v: %v", r, kv)
			}
		}
		if !slices.Equal(got, want) || int(resp.Count) != count || resp.More != more {
			t.Fatalf("%v:\ngot %d %v %q\nwant %d %v %q", r, resp.Count, resp.More, got, count, more, want)
		}
	}
}

// A page of a large semaphore has the requested size, and the pages together contain all tasks.
func TestPages(t *testing.T) {
	w := newWorld(t)
	w.put("/semaphore/s", `{"active":10}`)
	const n = 3*scanStep + 5
	entries := make([]semaphores.Entry, n)
	for i := range entries {
		entries[i] = semaphores.Entry{Task: fmt.Sprint(i * 7919 % n), Priority: float64(i % 10)}
	}
	must(t, w.n.do(&semaphores.Enqueue{Of: semaphores.Of{Key: "s"}, Entries: entries}))
	seen, last := map[string]bool{}, []byte(nil)
	for from := []byte("/semaphore/s/"); ; from = append(bytes.Clone(last), 0) {
		r := w.ask(&pb.RangeRequest{Key: from, RangeEnd: prefixEnd("/semaphore/s/"), Limit: 1000})
		if left := n - len(seen); int(r.Count) != left || len(r.Kvs) != min(left, 1000) || r.More != (left > 1000) {
			t.Fatalf("%d left: %d keys, count %d, more %v", left, len(r.Kvs), r.Count, r.More)
		}
		for _, kv := range r.Kvs {
			if bytes.Compare(kv.Key, last) <= 0 {
				t.Fatalf("%s after %s", kv.Key, last)
			}
			last, seen[string(kv.Key)] = kv.Key, true
		}
		if !r.More {
			break
		}
	}
	if len(seen) != n {
		t.Errorf("%d of %d keys", len(seen), n)
	}
	byValue := w.ask(&pb.RangeRequest{
		Key: []byte("/semaphore/s/"), RangeEnd: prefixEnd("/semaphore/s/"), SortTarget: pb.RangeRequest_CREATE, SortOrder: pb.RangeRequest_DESCEND, Limit: 3,
	})
	if len(byValue.Kvs) != 3 || byValue.Count != n {
		t.Errorf("%v", byValue)
	}
}

// A scan visits a task again if others are released meanwhile. It counts once.
func TestVisitedTwice(t *testing.T) {
	for _, countOnly := range []bool{true, false} {
		g := &gathering{span: newSpan([]byte("/semaphore/s/a"), []byte("/semaphore/s/z")), countOnly: countOnly, kept: map[string]struct{}{}}
		visit := g.span.within("s", g.visit("s", false))
		page := []semaphores.State{{Task: semaphore.Task{ID: "b"}}, {Task: semaphore.Task{ID: "c"}}, {Task: semaphore.Task{ID: "zz"}}}
		must(t, visit(page))
		must(t, visit(page[1:]))
		if g.count != 2 {
			t.Errorf("count only %v: %d tasks, want 2", countOnly, g.count)
		}
	}
}

// TestTooLargeAnswer checks that an answer that is too large is refused, without collecting it
// first.
func TestTooLargeAnswer(t *testing.T) {
	g := &gathering{kept: map[string]struct{}{}}
	var err error
	for i := 0; err == nil; i++ {
		err = g.add(found{key: bytes.Repeat([]byte("k"), 1<<20)})
		if i > 100 {
			t.Fatal("no end")
		}
	}
	if err != virtual.ErrTooMuch {
		t.Error(err)
	}
}
