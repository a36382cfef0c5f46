package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// semaphoreStatus returns the status of a task, or "" if it does not exist.
func semaphoreStatus(t *testing.T, c *clientv3.Client, key string) string {
	t.Helper()
	r, err := c.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Kvs) == 0 {
		return ""
	}
	return statusIn(t, r.Kvs[0].Value)
}

func statusIn(t *testing.T, value []byte) string {
	t.Helper()
	var task struct{ Status string }
	if err := json.Unmarshal(value, &task); err != nil {
		t.Fatal(err)
	}
	return task.Status
}

func put(t *testing.T, c *clientv3.Client, key, value string, options ...clientv3.OpOption) {
	t.Helper()
	if _, err := c.Put(t.Context(), key, value, options...); err != nil {
		t.Fatalf("put %s %s: %v", key, value, err)
	}
}

// An etcd client waits for a place with a watch, holds it with a lease, and loses it with the
// lease, also if the connection breaks in the meantime.
func TestSemaphoreOfClients(t *testing.T) {
	node := newNode(t, Options{})
	line := newCuttable(t, node.addr)
	c, other := dial(t, line.Addr().String()), dial(t, node.addr)
	put(t, c, "/semaphore/s", `{"active":1}`)
	put(t, other, "/semaphore/s/first", "1")
	lease, err := c.Grant(t.Context(), 60)
	if err != nil {
		t.Fatal(err)
	}
	events := c.Watch(t.Context(), "/semaphore/s/mine", clientv3.WithCreatedNotify(), clientv3.WithPrevKV())
	<-events
	put(t, c, "/semaphore/s/mine", "1", clientv3.WithLease(lease.ID))
	if e := nextEvents(t, events)[0]; !e.IsCreate() || statusIn(t, e.Kv.Value) != "WAIT" || e.Kv.Lease != int64(lease.ID) {
		t.Fatalf("%v", e)
	}
	line.cut()
	if _, err := other.Delete(t.Context(), "/semaphore/s/first"); err != nil {
		t.Fatal(err)
	}
	if e := nextEvents(t, events)[0]; !e.IsModify() || statusIn(t, e.Kv.Value) != "ACQUIRED" || statusIn(t, e.PrevKv.Value) != "WAIT" {
		t.Fatalf("%v", e)
	}
	left, err := c.TimeToLive(t.Context(), lease.ID, clientv3.WithAttachedKeys())
	if err != nil || len(left.Keys) != 1 || string(left.Keys[0]) != "/semaphore/s/mine" {
		t.Errorf("%v, %v", left, err)
	}
	if _, err := c.Revoke(t.Context(), lease.ID); err != nil {
		t.Fatal(err)
	}
	if e := nextEvents(t, events)[0]; e.Type != clientv3.EventTypeDelete || statusIn(t, e.PrevKv.Value) != "ACQUIRED" {
		t.Fatalf("%v", e)
	}
	// Lost events are reported as lost: clients read again and continue from there.
	watch := c.Watch(t.Context(), "/semaphore/s/", clientv3.WithPrefix(), clientv3.WithRev(1))
	if r := <-watch; !errors.Is(r.Err(), rpctypes.ErrCompacted) || r.CompactRevision == 0 {
		t.Errorf("%v", r.Err())
	}
}

// A transaction that compares a task, and changes ordinary keys and queues, is atomic.
func TestSemaphoreTxn(t *testing.T) {
	node := newNode(t, Options{})
	c := dial(t, node.addr)
	put(t, c, "/semaphore/s", `{"active":1}`)
	put(t, c, "/semaphore/s/a", "2")
	put(t, c, "/semaphore/s/b", "1")
	runs := func(task string) clientv3.Cmp {
		return clientv3.Compare(clientv3.Value("/semaphore/s/"+task), "=", `{"status":"ACQUIRED"}`)
	}
	finish := func(task string) bool {
		t.Helper()
		r, err := c.Txn(t.Context()).If(runs(task)).
			Then(clientv3.OpDelete("/semaphore/s/"+task, clientv3.WithPrevKV()), clientv3.OpPut("/q/done/p/"+task, "v"), clientv3.OpPut("done/"+task, "v")).
			Else(clientv3.OpGet("/semaphore/s/" + task)).Commit()
		if err != nil {
			t.Fatal(err)
		}
		if r.Succeeded {
			d := r.Responses[0].GetResponseDeleteRange()
			if d.Deleted != 1 || len(d.PrevKvs) != 1 || statusIn(t, d.PrevKvs[0].Value) != "ACQUIRED" {
				t.Errorf("%v", d)
			}
		}
		return r.Succeeded
	}
	if finish("b") {
		t.Error("b does not run")
	}
	if !finish("a") || !finish("b") || finish("b") {
		t.Error("a, then b")
	}
	for key, want := range map[string]int64{"/q/done/0": 2, "done/": 2, "/semaphore/s/": 0} {
		if r, err := c.Get(t.Context(), key, clientv3.WithPrefix(), clientv3.WithCountOnly()); err != nil || r.Count != want {
			t.Errorf("%s: %v, %v, want %d", key, r, err, want)
		}
	}

	// If one operation is impossible, none is executed.
	for name, ops := range map[string][]clientv3.Op{
		"no such semaphore":  {clientv3.OpPut("/semaphore/none/x", "1"), clientv3.OpPut("never", "")},
		"no such value":      {clientv3.OpPut("/semaphore/s/x", "high"), clientv3.OpPut("never", "")},
		"no such lease":      {clientv3.OpPut("/semaphore/s/x", "1"), clientv3.OpPut("never", "", clientv3.WithLease(99))},
		"no such lease here": {clientv3.OpPut("never", ""), clientv3.OpPut("/semaphore/s/x", "1", clientv3.WithLease(99))},
		"no such key":        {clientv3.OpPut("/semaphore/s/x", "1"), clientv3.OpPut("never", "", clientv3.WithIgnoreValue())},
		"nothing ignored":    {clientv3.OpPut("never", ""), clientv3.OpPut("/semaphore/s/x", "", clientv3.WithIgnoreValue())},
		"another order":      {clientv3.OpPut("never", ""), clientv3.OpPut("/q/done/p/x", ""), clientv3.OpPut("/semaphore/s/x", "1"), clientv3.OpPut("/semaphore/s", `{"order":"asc","active":-1}`)},
		"all semaphores":     {clientv3.OpPut("never", ""), clientv3.OpDelete("/semaphore/", clientv3.WithPrefix())},
	} {
		if _, err := c.Txn(t.Context()).Then(ops...).Commit(); err == nil {
			t.Errorf("%s: done", name)
		}
	}
	for key, want := range map[string]int64{"/q/done/0": 2, "never": 0, "/semaphore/s/": 0} {
		if r, err := c.Get(t.Context(), key, clientv3.WithPrefix(), clientv3.WithCountOnly()); err != nil || r.Count != want {
			t.Errorf("%s: %v, %v, want %d", key, r, err, want)
		}
	}
	// A semaphore is created and filled in one transaction.
	r, err := c.Txn(t.Context()).If(clientv3.Compare(clientv3.CreateRevision("/semaphore/new"), "=", 0)).
		Then(clientv3.OpPut("/semaphore/new", `{"active":1}`), clientv3.OpPut("/semaphore/new/x", "1"), clientv3.OpPut("/semaphore/new/y", "2"), clientv3.OpDelete("/semaphore/none/z")).Commit()
	if err != nil || !r.Succeeded || semaphoreStatus(t, c, "/semaphore/new/x") == "" {
		t.Errorf("%v, %v", r, err)
	}
	if r, err = c.Txn(t.Context()).If(clientv3.Compare(clientv3.Version("/semaphore/new"), "=", 0)).Commit(); err != nil || r.Succeeded {
		t.Errorf("%v, %v", r, err)
	}
}

// Unsupported comparisons are refused with an error that names the supported ones.
func TestSemaphoreCompare(t *testing.T) {
	node := newNode(t, Options{})
	c := dial(t, node.addr)
	put(t, c, "/semaphore/s", `{"active":1,"lease":1000000}`)
	put(t, c, "/semaphore/s/a", "2")
	const a = "/semaphore/s/a"
	for _, x := range []struct {
		cmp  clientv3.Cmp
		want string // true, false, or the error
	}{
		{clientv3.Compare(clientv3.Version(a), "=", 1), "true"},
		{clientv3.Compare(clientv3.Version("/semaphore/s/b"), ">", 0), "false"},
		{clientv3.Compare(clientv3.ModRevision(a), "!=", 0), "true"},
		{clientv3.Compare(clientv3.CreateRevision("/semaphore/none"), "=", 0), "true"},
		{clientv3.Compare(clientv3.LeaseValue(a), "=", clientv3.NoLease), "true"},
		{clientv3.Compare(clientv3.Value(a), "=", `{"status":"ACQUIRED","priority":2.0}`), "true"},
		{clientv3.Compare(clientv3.Value(a), "=", `{"status":"ACQUIRED","priority":3}`), "false"},
		{clientv3.Compare(clientv3.Value(a), "!=", `{"status":"ACQUIRED","priority":3}`), "true"},
		{clientv3.Compare(clientv3.Value("/semaphore/s/b"), "!=", `{"status":"ACQUIRED"}`), "false"},
		{clientv3.Compare(clientv3.Value("/semaphore/s"), "=", `{"waiting":0,"active":1,"lease":1000000}`), "true"},
		{clientv3.Compare(clientv3.ModRevision(a), "=", 7), "a transaction may compare the version"},
		{clientv3.Compare(clientv3.Value(a), "=", "2"), "a transaction may compare the version"},
		{clientv3.Compare(clientv3.Value(a), ">", `{"priority":1}`), "a transaction may compare the version"},
		{clientv3.Compare(clientv3.Value(a), "=", `{"state":"ACQUIRED"}`), "a transaction may compare the version"},
		{clientv3.Compare(clientv3.Value(a), "=", `{}`), "a transaction may compare the version"},
		{clientv3.Compare(clientv3.Version("/semaphore/s/").WithPrefix(), ">", 0), "a transaction may compare the version"},
		{clientv3.Compare(clientv3.Version("/semaphore/"), ">", 0), "keys of semaphores are"},
	} {
		got := ""
		if r, err := c.Txn(t.Context()).If(x.cmp).Commit(); err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprint(r.Succeeded)
		}
		if !strings.Contains(got, x.want) {
			t.Errorf("%v: %s, want %s", x.cmp, got, x.want)
		}
	}
}

// Of concurrent transactions that start a task only if the semaphore is free, one succeeds, though
// each reads first.
func TestSemaphoreTxnRace(t *testing.T) {
	node := newNode(t, Options{})
	c := dial(t, node.addr)
	put(t, c, "/semaphore/s", `{"active":1}`)
	const each, clients = 20, 8
	done := make(chan error, clients)
	for i := range clients {
		go func() {
			for k := range each {
				free := clientv3.Compare(clientv3.Value("/semaphore/s"), "=", `{"acquired":0,"waiting":0}`)
				task := fmt.Sprintf("/semaphore/s/%d-%d", i, k)
				for taken := false; !taken; {
					r, err := c.Txn(context.Background()).If(free).Then(clientv3.OpPut(task, "1")).Commit()
					if status.Code(err) == codes.Aborted {
						continue
					}
					if err != nil {
						done <- err
						return
					}
					taken = r.Succeeded
				}
				r, err := c.Txn(context.Background()).If(clientv3.Compare(clientv3.Value("/semaphore/s"), "=", `{"acquired":1,"waiting":0}`)).
					Then(clientv3.OpDelete(task), clientv3.OpPut(fmt.Sprint("done", task), "")).Commit()
				if err != nil || !r.Succeeded {
					done <- fmt.Errorf("not alone: %v, %w", r, err)
					return
				}
			}
			done <- nil
		}()
	}
	for range clients {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if r, err := c.Get(t.Context(), "done", clientv3.WithPrefix(), clientv3.WithCountOnly()); err != nil || r.Count != each*clients {
		t.Errorf("%v, %v", r, err)
	}
}
