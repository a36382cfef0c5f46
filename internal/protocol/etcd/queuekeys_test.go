package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// received waits for n events of a watch and returns their keys and values.
func received(t *testing.T, w clientv3.WatchChan, n int) (all []string) {
	t.Helper()
	for len(all) < n {
		r, ok := <-w
		if !ok || r.Err() != nil {
			t.Fatalf("the watch ended after %q: %v", all, r.Err())
		}
		for _, e := range r.Events {
			text := string(e.Kv.Key) + "=" + string(e.Kv.Value)
			if e.Type == clientv3.EventTypeDelete {
				text = "-" + string(e.Kv.Key)
			}
			all = append(all, text)
		}
	}
	return all
}

func alike(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func index(n int) string { return fmt.Sprintf("%020d", n) }

func putKey(t *testing.T, c *clientv3.Client, key, value string, o ...clientv3.OpOption) {
	t.Helper()
	if _, err := c.Put(t.Context(), key, value, o...); err != nil {
		t.Fatal(err)
	}
}

func deleteKey(t *testing.T, c *clientv3.Client, key string, want int64, o ...clientv3.OpOption) {
	t.Helper()
	r, err := c.Delete(t.Context(), key, o...)
	if err != nil || r.Deleted != want {
		t.Fatalf("deleted %v (%v), want %d", r, err, want)
	}
}

func keysOf(t *testing.T, c *clientv3.Client, key string, o ...clientv3.OpOption) (all []string) {
	t.Helper()
	r, err := c.Get(t.Context(), key, o...)
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range r.Kvs {
		all = append(all, string(kv.Key)+"="+string(kv.Value))
	}
	return all
}

// An etcd client produces, receives and acknowledges messages, and sees them in order.
func TestQueueByClient(t *testing.T) {
	n := newNode(t, Options{NodeName: "n1"})
	producer, consumer := dial(t, n.addr), dial(t, n.addr)
	w := consumer.Watch(t.Context(), "/queue/jobs/consumer/me")
	for k := 1; k <= 3; k++ {
		putKey(t, producer, fmt.Sprintf("/queue/jobs/producer/p1/k%d", k), fmt.Sprintf("v%d", k))
		key := "/queue/jobs/consumer/me/" + index(k) + fmt.Sprintf("/k%d", k)
		alike(t, received(t, w, 1), key+fmt.Sprintf("=v%d", k))
		alike(t, keysOf(t, producer, "/queue/jobs/"+index(k), clientv3.WithPrefix()), "/queue/jobs/"+index(k)+fmt.Sprintf("/k%d=v%d", k, k))
		deleteKey(t, consumer, key, 1)
		alike(t, keysOf(t, producer, "/queue/jobs/0", clientv3.WithPrefix()))
	}
	alike(t, keysOf(t, producer, "/queue/jobs"), "/queue/jobs=n1")
	alike(t, keysOf(t, producer, "/queue/jobs/consumer/me"), "/queue/jobs/consumer/me=n1")
	if _, err := producer.Delete(t.Context(), "/q/jobs/1/k1"); !errors.Is(err, rpctypes.ErrPermissionDenied) {
		t.Fatalf("got %v", err)
	}
}

// The deliveries of a connection go to other consumers in order when the connection ends.
func TestQueueAfterDisconnect(t *testing.T) {
	n := newNode(t, Options{})
	producer, first, second := dial(t, n.addr), dial(t, n.addr), dial(t, n.addr)
	w := first.Watch(t.Context(), "/q/a/c/1")
	for k := 1; k <= 5; k++ {
		putKey(t, producer, fmt.Sprintf("/q/a/p/%d", k), "v")
	}
	received(t, w, 5)
	deleteKey(t, first, "/q/a/c/1/"+index(2)+"/2", 1)
	later := second.Watch(t.Context(), "/q/a/c/2/", clientv3.WithPrefix())
	first.Close()
	var want []string
	for _, k := range []int{1, 3, 4, 5} {
		want = append(want, "/q/a/c/2/"+index(k)+fmt.Sprintf("/%d=v", k))
	}
	alike(t, received(t, later, 4), want...)
	alike(t, keysOf(t, producer, "/q/a/c", clientv3.WithPrefix(), clientv3.WithLimit(1)), "/q/a/c/2=fiveways")
}

// A consumer that was put with a lease lives as long as the lease, and is listed among its keys.
func TestQueueConsumerWithLease(t *testing.T) {
	n := newNode(t, Options{NodeName: "n1"})
	c := dial(t, n.addr)
	lease, err := c.Grant(t.Context(), 3600)
	if err != nil {
		t.Fatal(err)
	}
	putKey(t, c, "/q/a/c/1", "anything", clientv3.WithLease(lease.ID))
	alike(t, keysOf(t, c, "/q/a/c/1"), "/q/a/c/1=n1")
	putKey(t, c, "/q/a/p/k", "v")
	ctx, end := context.WithCancel(t.Context())
	received(t, c.Watch(ctx, "/q/a/c/1"), 1)
	end()
	ttl, err := c.TimeToLive(t.Context(), lease.ID, clientv3.WithAttachedKeys())
	if err != nil || len(ttl.Keys) != 1 || string(ttl.Keys[0]) != "/q/a/c/1" {
		t.Fatalf("the lease has %q (%v)", ttl.Keys, err)
	}
	alike(t, keysOf(t, c, "/q/a/c/1/", clientv3.WithPrefix()), "/q/a/c/1/"+index(1)+"/k=v")
	w := c.Watch(t.Context(), "/q/a/c/2")
	if _, err := c.Revoke(t.Context(), lease.ID); err != nil {
		t.Fatal(err)
	}
	alike(t, received(t, w, 1), "/q/a/c/2/"+index(1)+"/k=v")
	if _, err := c.Put(t.Context(), "/q/a/c/3", "", clientv3.WithLease(lease.ID)); err == nil {
		t.Fatal("a consumer with a lease that is over")
	}
}

// Two queues implement requests and replies: the key of a request names the client that waits for
// the reply.
func TestQueueRequestReply(t *testing.T) {
	n := newNode(t, Options{})
	worker, client := dial(t, n.addr), dial(t, n.addr)
	requests := worker.Watch(t.Context(), "/q/rpc/consumer/w")
	replies := client.Watch(t.Context(), "/q/rpc-reply-A/consumer/A")
	var work sync.WaitGroup
	work.Go(func() {
		for range 2 {
			for _, e := range (<-requests).Events {
				key := string(e.Kv.Key)
				requester := key[strings.LastIndexByte(key, '/')+1:]
				if _, err := worker.Put(context.Background(), "/q/rpc-reply-"+requester+"/producer/answer", "re: "+string(e.Kv.Value)); err != nil {
					t.Error(err)
				}
				if _, err := worker.Delete(context.Background(), key); err != nil {
					t.Error(err)
				}
			}
		}
	})
	putKey(t, client, "/q/rpc/producer/A", "one")
	alike(t, received(t, replies, 1), "/q/rpc-reply-A/consumer/A/"+index(1)+"/answer=re: one")
	putKey(t, client, "/q/rpc/producer/A", "two")
	alike(t, received(t, replies, 1), "/q/rpc-reply-A/consumer/A/"+index(2)+"/answer=re: two")
	work.Wait()
}

// A transaction consumes a message, publishes another one, and writes an ordinary key, atomically.
func TestQueueTransaction(t *testing.T) {
	n := newNode(t, Options{})
	c := dial(t, n.addr)
	in, out := c.Watch(t.Context(), "/q/in/c/w"), c.Watch(t.Context(), "/q/out/c/w")
	putKey(t, c, "/q/in/p/k", "v")
	key := "/q/in/c/w/" + index(1) + "/k"
	alike(t, received(t, in, 1), key+"=v")
	move := func(then ...clientv3.Op) *clientv3.TxnResponse {
		t.Helper()
		r, err := c.Txn(t.Context()).If(clientv3.Compare(clientv3.Version(key), ">", 0)).
			Then(append([]clientv3.Op{clientv3.OpDelete(key), clientv3.OpPut("/q/out/p/k", "V")}, then...)...).Else(clientv3.OpGet("done")).Commit()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	before, err := c.Get(t.Context(), "done")
	if err != nil {
		t.Fatal(err)
	}
	r := move(clientv3.OpPut("done", "1"), clientv3.OpGet("done"))
	if !r.Succeeded || r.Responses[0].GetResponseDeleteRange().Deleted != 1 || r.Header.Revision != before.Header.Revision+1 ||
		string(r.Responses[3].GetResponseRange().Kvs[0].Value) != "1" {
		t.Fatalf("got %v", r)
	}
	alike(t, received(t, out, 1), "/q/out/c/w/"+index(1)+"/k=V")
	alike(t, keysOf(t, c, "/q/in/0", clientv3.WithPrefix()))
	if r = move(clientv3.OpPut("done", "2")); r.Succeeded || string(r.Responses[0].GetResponseRange().Kvs[0].Value) != "1" {
		t.Fatalf("the second time: %v", r)
	}
	alike(t, keysOf(t, c, "/q/out/0", clientv3.WithPrefix()), "/q/out/"+index(1)+"/k=V")

	// If the store would refuse it, it changes no queue either.
	_, err = c.Txn(t.Context()).Then(clientv3.OpPut("/q/out/p/x", "x"), clientv3.OpPut("done", "3", clientv3.WithLease(77))).Commit()
	if !errors.Is(err, rpctypes.ErrLeaseNotFound) {
		t.Fatalf("got %v", err)
	}
	_, err = c.Txn(t.Context()).Then(clientv3.OpPut("/q/out/p/x", "x"), clientv3.OpPut("never", "", clientv3.WithIgnoreValue())).Commit()
	if !errors.Is(err, rpctypes.ErrKeyNotFound) {
		t.Fatalf("got %v", err)
	}
	if _, err := c.Compact(t.Context(), r.Header.Revision); err != nil {
		t.Fatal(err)
	}
	_, err = c.Txn(t.Context()).Then(clientv3.OpPut("/q/out/p/x", "x"), clientv3.OpPut("done", "3"), clientv3.OpGet("done", clientv3.WithRev(-1))).Commit()
	if !errors.Is(err, rpctypes.ErrCompacted) {
		t.Fatalf("got %v", err)
	}
	alike(t, keysOf(t, c, "/q/out/0", clientv3.WithPrefix()), "/q/out/"+index(1)+"/k=V")
	if _, err := c.Txn(t.Context()).Then(clientv3.OpPut("/q/out/c/x", "")).Commit(); !strings.Contains(fmt.Sprint(err), "in a transaction, queue keys allow") {
		t.Fatalf("got %v", err)
	}
}

// A watch ends with a reason when its queue is deleted.
func TestQueueDeletedUnderWatch(t *testing.T) {
	n := newNode(t, Options{})
	c := dial(t, n.addr)
	w := c.Watch(t.Context(), "/q/a/c/w")
	putKey(t, c, "/q/a/p/k", "v")
	received(t, w, 1)
	deleteKey(t, c, "/q/a", 1)
	for r := range w { // the client closes it without an error
		t.Fatalf("got %+v", r)
	}
	deleteKey(t, c, "/q/a", 0)
	alike(t, keysOf(t, c, "/q/", clientv3.WithPrefix()))
	putKey(t, c, "/q/a/p/k", "again")
	alike(t, keysOf(t, c, "/q/a", clientv3.WithPrefix()), "/q/a=fiveways", "/q/a/"+index(1)+"/k=again")
}

// A message may be as large as a value, and no larger. The same limit applies to a transaction with
// messages.
func TestQueueMessageTooLarge(t *testing.T) {
	n := newNode(t, Options{})
	c := dial(t, n.addr)
	largest := strings.Repeat("x", 1536<<10-64)
	putKey(t, c, "/q/jobs/p/k", largest)
	putKey(t, c, "/q/jobs/p/k", largest)
	for _, over := range []int{65, 100 << 10} {
		if _, err := c.Put(t.Context(), "/q/jobs/p/k", largest+strings.Repeat("x", over)); !errors.Is(err, rpctypes.ErrRequestTooLarge) {
			t.Errorf("%d more: %v", over, err)
		}
		_, err := c.Txn(t.Context()).Then(clientv3.OpPut("/q/jobs/p/k", largest+strings.Repeat("x", over))).Commit()
		if !errors.Is(err, rpctypes.ErrRequestTooLarge) {
			t.Errorf("a transaction, %d more: %v", over, err)
		}
	}
	if r, err := c.Get(t.Context(), "/q/jobs/0", clientv3.WithRange("/q/jobs/:"), clientv3.WithCountOnly()); err != nil || r.Count != 2 {
		t.Errorf("%v, %v", r, err)
	}
}
