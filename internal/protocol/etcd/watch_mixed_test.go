package etcd

import (
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// nextEvents returns the next response that has events.
func nextEvents(t *testing.T, events clientv3.WatchChan) []*clientv3.Event {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case r, ok := <-events:
			if !ok || r.Err() != nil {
				t.Fatalf("the watch ended: %v", r.Err())
			}
			if len(r.Events) > 0 {
				return r.Events
			}
		case <-late:
			t.Fatal("no events")
		}
	}
}

// TestMixedStream checks that a client can watch a queue and ordinary keys on one stream, and that
// each kind keeps its own revisions when the connection breaks.
func TestMixedStream(t *testing.T) {
	node := newNode(t, Options{})
	line := newCuttable(t, node.addr)
	watcher, writer := dial(t, line.Addr().String()), dial(t, node.addr)
	put := func(key, value string) {
		t.Helper()
		if _, err := writer.Put(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	lease, err := writer.Grant(t.Context(), 600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Put(t.Context(), "/q/jobs/c/me", "", clientv3.WithLease(lease.ID)); err != nil {
		t.Fatal(err)
	}
	ordinary := watcher.Watch(t.Context(), "a", clientv3.WithCreatedNotify())
	<-ordinary
	queue := watcher.Watch(t.Context(), "/q/jobs/c/me/", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	<-queue
	for i := range 20 {
		want := fmt.Sprint(i)
		put("/q/jobs/p/"+want, want)
		put("a", want)
		for kind, events := range map[string]clientv3.WatchChan{"queue": queue, "ordinary": ordinary} {
			if got := nextEvents(t, events); len(got) != 1 || string(got[0].Kv.Value) != want {
				t.Fatalf("%s: %v, want %s alone", kind, got, want)
			}
		}
		switch {
		case i%5 == 3:
			line.cut()
		case i%5 == 2:
			if err := watcher.RequestProgress(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	held, err := writer.Get(t.Context(), "/q/jobs/c/me/", clientv3.WithPrefix())
	if err != nil || len(held.Kvs) != 20 {
		t.Fatalf("%v, %v", held, err)
	}
	deleted, err := writer.Delete(t.Context(), string(held.Kvs[0].Key))
	if err != nil || deleted.Deleted != 1 {
		t.Fatalf("%v, %v", deleted, err)
	}
	if e := nextEvents(t, queue); len(e) != 1 || e[0].Type != clientv3.EventTypeDelete || string(e[0].Kv.Key) != string(held.Kvs[0].Key) {
		t.Errorf("the end of a delivery: %v", e)
	}
}

// TestConsumerWhoseConnectionBreaks checks that without a lease the consumer ends with its stream,
// and its deliveries are redelivered when it is back.
func TestConsumerWhoseConnectionBreaks(t *testing.T) {
	node := newNode(t, Options{})
	line := newCuttable(t, node.addr)
	consumer, producer := dial(t, line.Addr().String()), dial(t, node.addr)
	events := consumer.Watch(t.Context(), "/q/jobs/c/me/", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	<-events
	if _, err := producer.Put(t.Context(), "/q/jobs/p/1", "v"); err != nil {
		t.Fatal(err)
	}
	first := nextEvents(t, events)[0]
	line.cut()
	second := nextEvents(t, events)[0]
	if string(second.Kv.Key) != string(first.Kv.Key) || second.Kv.ModRevision <= first.Kv.ModRevision {
		t.Errorf("delivered %v and then %v", first, second)
	}
}
