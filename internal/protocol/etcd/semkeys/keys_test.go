package semkeys

import (
	"context"
	"fmt"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/semaphores"
)

// A semaphore is configured; tasks are put, wait, acquire places and are released.
func TestKeys(t *testing.T) {
	w := newWorld(t)
	w.put("/semaphore/crowd", `{"active":2,"try_release":1}`)
	w.put("/semaphore/crowd/a", "5")
	w.put("/semaphore/crowd/b", "-1.5")
	w.put("/semaphore/crowd/c", `{"priority":-3}`)
	w.put("/semaphore/crowd/a", "6")
	same(t, w.all("/semaphore/crowd/"), "/semaphore/crowd/a=ACQUIRED 6", "/semaphore/crowd/b=ACQUIRED -1.5", "/semaphore/crowd/c=WAIT -3")
	same(t, w.all("/semaphore/crowd"), append([]string{"/semaphore/crowd=2/1"}, w.all("/semaphore/crowd/")...)...)
	if n := w.delete("/semaphore/crowd/a"); n != 1 {
		t.Errorf("%d deleted", n)
	}
	if n := w.delete("/semaphore/crowd/a"); n != 0 {
		t.Errorf("%d deleted again", n)
	}
	same(t, w.all("/semaphore/crowd/"), "/semaphore/crowd/b=ACQUIRED -1.5", "/semaphore/crowd/c=ACQUIRED -3")
	w.put("/semaphore/crowd", "")
	w.put("/semaphore/crowd", `{"active":1}`)
	same(t, w.all("/semaphore/crowd"), "/semaphore/crowd=1/1", "/semaphore/crowd/b=ACQUIRED -1.5", "/semaphore/crowd/c=TRY_RELEASE -3")
	if n := w.delete("/semaphore/crowd"); n != 1 {
		t.Errorf("%d deleted", n)
	}
	same(t, w.all("/semaphore/"))
	w.put("/semaphore/other", "")
	same(t, w.all("/semaphore/"), "/semaphore/other=1000/900")
}

// The values are the same as in all protocols, and the result of a get can be put again.
func TestValues(t *testing.T) {
	w := newWorld(t)
	w.put("/semaphore/a%b", `{"active":1,"order":"asc","lease":60000}`)
	w.put("/semaphore/a%b/x/y", "5")
	w.put("/semaphore/a%b/z", "4")
	semaphore := w.ask(&pb.RangeRequest{Key: []byte("/semaphore/a%b")}).Kvs[0]
	want := `{"vhost":"/","key":"a%b","active":1,"try_release":900,"order":"asc","lease":60000,"waiting":1,"acquired":0,"try_release_asked":1}`
	if string(semaphore.Value) != want || semaphore.Version != 1 || semaphore.CreateRevision == 0 {
		t.Errorf("%v", semaphore)
	}
	task := w.ask(&pb.RangeRequest{Key: []byte("/semaphore/a%b/z")}).Kvs[0]
	if text := string(task.Value); !strings.HasPrefix(text, `{"task":"z","status":"WAIT","priority":4,"position":1,"enqueued":"20`) || !strings.HasSuffix(text, `"lease":0,"expires":null}`) {
		t.Errorf("%v", task)
	}
	if task.Version != 1 || task.CreateRevision == 0 || task.ModRevision != task.CreateRevision {
		t.Errorf("%v", task)
	}
	w.put("/semaphore/a%b", string(semaphore.Value))
	w.put("/semaphore/a%b/z", string(task.Value))
	same(t, w.all("/semaphore/a%b/"), "/semaphore/a%b/x/y=TRY_RELEASE 5", "/semaphore/a%b/z=WAIT 4")
}

// The options prev_kv, ignore_value and ignore_lease.
func TestPutOptions(t *testing.T) {
	w := newWorld(t)
	w.leases.set(7, true)
	put := func(r *pb.PutRequest) (*pb.PutResponse, error) {
		r.PrevKv = true
		return w.n.Put(context.Background(), w.who, r)
	}
	key := []byte("/semaphore/s/t")
	if r, err := put(&pb.PutRequest{Key: []byte("/semaphore/s"), Value: []byte(`{"active":1}`)}); err != nil || r.PrevKv != nil {
		t.Fatal(r, err)
	}
	if r, err := put(&pb.PutRequest{Key: []byte("/semaphore/s"), Value: []byte(`{"active":3}`)}); err != nil || short(r.PrevKv) != "/semaphore/s=1/900" {
		t.Fatal(r, err)
	}
	_, err := put(&pb.PutRequest{Key: key, IgnoreValue: true})
	refused(t, err, "InvalidArgument: etcdserver: key not found")
	if r, err := put(&pb.PutRequest{Key: key, Value: []byte("1"), Lease: 7}); err != nil || r.PrevKv != nil {
		t.Fatal(r, err)
	}
	if r, err := put(&pb.PutRequest{Key: key, Value: []byte("2"), IgnoreLease: true}); err != nil || short(r.PrevKv) != "/semaphore/s/t=ACQUIRED 1" || r.PrevKv.Lease != 7 {
		t.Fatal(r, err)
	}
	if r, err := put(&pb.PutRequest{Key: key, IgnoreValue: true}); err != nil || short(r.PrevKv) != "/semaphore/s/t=ACQUIRED 2" || r.PrevKv.Lease != 7 {
		t.Fatal(r, err)
	}
	kv := w.ask(&pb.RangeRequest{Key: key}).Kvs[0]
	if short(kv) != "/semaphore/s/t=ACQUIRED 2" || kv.Lease != 0 {
		t.Errorf("%v", kv)
	}
	d, err := w.n.DeleteRange(w.who, &pb.DeleteRangeRequest{Key: key, PrevKv: true})
	if err != nil || d.Deleted != 1 || len(d.PrevKvs) != 1 || short(d.PrevKvs[0]) != "/semaphore/s/t=ACQUIRED 2" || string(d.PrevKvs[0].Key) != string(key) {
		t.Fatal(d, err)
	}
	d, err = w.n.DeleteRange(w.who, &pb.DeleteRangeRequest{Key: []byte("/semaphore/s"), PrevKv: true})
	if err != nil || d.Deleted != 1 || len(d.PrevKvs) != 1 || short(d.PrevKvs[0]) != "/semaphore/s=3/900" {
		t.Fatal(d, err)
	}
}

func TestRefusals(t *testing.T) {
	w := newWorld(t)
	w.put("/semaphore/s", "")
	w.put("/semaphore/full", `{"order":"asc"}`)
	w.put("/semaphore/full/t", "1")
	const number = `InvalidArgument: etcdserver: the value of a task is its priority, a number, or JSON as {"priority":5}`
	for name, c := range map[string]struct {
		r    *pb.PutRequest
		want string
	}{
		"the root":            {&pb.PutRequest{Key: []byte("/semaphore/")}, "InvalidArgument: etcdserver: keys of semaphores are"},
		"no semaphore's name": {&pb.PutRequest{Key: []byte("/semaphore//t"), Value: []byte("1")}, "InvalidArgument: etcdserver: keys of semaphores are"},
		"no task's name":      {&pb.PutRequest{Key: []byte("/semaphore/s/"), Value: []byte("1")}, "InvalidArgument: etcdserver: keys of semaphores are"},
		"a long name":         {&pb.PutRequest{Key: []byte("/semaphore/" + strings.Repeat("k", 201))}, "InvalidArgument: etcdserver: "},
		"a long task":         {&pb.PutRequest{Key: []byte("/semaphore/s/" + strings.Repeat("t", 256)), Value: []byte("1")}, "InvalidArgument: etcdserver: "},
		"no semaphore":        {&pb.PutRequest{Key: []byte("/semaphore/none/t"), Value: []byte("1")}, "NotFound: etcdserver: there is no such semaphore: put its key first"},
		"no number":           {&pb.PutRequest{Key: []byte("/semaphore/s/t"), Value: []byte("high")}, number},
		"nothing":             {&pb.PutRequest{Key: []byte("/semaphore/s/t")}, number},
		"NaN":                 {&pb.PutRequest{Key: []byte("/semaphore/s/t"), Value: []byte("NaN")}, number},
		"infinity":            {&pb.PutRequest{Key: []byte("/semaphore/s/t"), Value: []byte("-Inf")}, number},
		"no priority":         {&pb.PutRequest{Key: []byte("/semaphore/s/t"), Value: []byte(`{"lease":1}`)}, "InvalidArgument: etcdserver: the value of a task has no priority"},
		"a strange field":     {&pb.PutRequest{Key: []byte("/semaphore/s/t"), Value: []byte(`{"prio":1}`)}, "InvalidArgument: etcdserver: the value of a task: "},
		"a bad lease":         {&pb.PutRequest{Key: []byte("/semaphore/s/t"), Value: []byte(`{"priority":1,"lease":-1}`)}, "InvalidArgument: etcdserver: "},
		"no lease":            {&pb.PutRequest{Key: []byte("/semaphore/s/t"), Value: []byte("1"), Lease: 9}, "NotFound: etcdserver: requested lease not found"},
		"a semaphore's lease": {&pb.PutRequest{Key: []byte("/semaphore/s"), Lease: 9}, "InvalidArgument: etcdserver: a semaphore takes no lease, its tasks do"},
		"settings":            {&pb.PutRequest{Key: []byte("/semaphore/s"), Value: []byte("5")}, "InvalidArgument: etcdserver: the value of a semaphore is a JSON object: "},
		"a strange setting":   {&pb.PutRequest{Key: []byte("/semaphore/s"), Value: []byte(`{"activ":5}`)}, "InvalidArgument: etcdserver: the value of a semaphore is a JSON object: "},
		"a bad setting":       {&pb.PutRequest{Key: []byte("/semaphore/s"), Value: []byte(`{"active":-5}`)}, "InvalidArgument: etcdserver: "},
		"a bad order":         {&pb.PutRequest{Key: []byte("/semaphore/s"), Value: []byte(`{"order":"up"}`)}, "InvalidArgument: etcdserver: "},
		"another order":       {&pb.PutRequest{Key: []byte("/semaphore/full"), Value: []byte(`{"order":"desc"}`)}, "FailedPrecondition: etcdserver: "},
	} {
		_, err := w.n.Put(context.Background(), w.who, c.r)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		t.Run(name, func(t *testing.T) { refused(t, err, c.want); t.Log(err) })
	}
	for _, r := range []*pb.DeleteRangeRequest{
		{Key: []byte("/semaphore/"), RangeEnd: prefixEnd("/semaphore/")}, {Key: []byte("/semaphore/s"), RangeEnd: prefixEnd("/semaphore/s")},
		{Key: []byte("/semaphore/s/"), RangeEnd: []byte("/semaphore/t")}, {Key: []byte("/semaphore/s/"), RangeEnd: []byte{0}},
	} {
		_, err := w.n.DeleteRange(w.who, r)
		refused(t, err, "InvalidArgument: etcdserver: a delete of semaphore keys must name one key")
	}
	if n := w.delete("/semaphore/none/t") + w.delete("/semaphore/none") + w.delete("/semaphore/") + w.delete("/semaphore/s/"); n != 0 {
		t.Errorf("%d deleted", n)
	}
	_, err := w.n.Range(w.who, &pb.RangeRequest{Key: []byte("/semaphore/s"), Revision: 1 << 62})
	refused(t, err, "OutOfRange: etcdserver: mvcc: required revision is a future revision")
	same(t, w.all("/semaphore/"), "/semaphore/full=1000/900", "/semaphore/full/t=ACQUIRED 1", "/semaphore/s=1000/900")
}

// A caller without permission gets only that error, whether the semaphore exists or not.
func TestPermissions(t *testing.T) {
	w := newWorld(t)
	const denied = "PermissionDenied: etcdserver: permission denied"
	w.put("/semaphore/a", "")
	w.put("/semaphore/a/t", "1")
	w.put("/semaphore/b", "")
	reader, writer, maker := w.user("reader", "", "", "a"), w.user("writer", "", "a", ""), w.user("maker", "a", "", "")
	for _, key := range []string{"/semaphore/b", "/semaphore/none"} {
		for _, who := range []Caller{reader, writer, maker} {
			_, err := w.n.Put(context.Background(), who, &pb.PutRequest{Key: []byte(key)})
			refused(t, err, denied)
			_, err = w.n.Put(context.Background(), who, &pb.PutRequest{Key: []byte(key + "/t"), Value: []byte("1")})
			refused(t, err, denied)
			_, err = w.n.Range(who, &pb.RangeRequest{Key: []byte(key)})
			refused(t, err, denied)
			_, err = w.n.DeleteRange(who, &pb.DeleteRangeRequest{Key: []byte(key)})
			refused(t, err, denied)
			_, err = w.watchAs(who, &pb.WatchCreateRequest{Key: []byte(key)})
			refused(t, err, denied)
		}
	}
	if _, err := w.n.Put(context.Background(), maker, &pb.PutRequest{Key: []byte("/semaphore/a"), Value: []byte(`{"active":5}`)}); err != nil {
		t.Error(err)
	}
	if _, err := w.n.Put(context.Background(), writer, &pb.PutRequest{Key: []byte("/semaphore/a/u"), Value: []byte("2")}); err != nil {
		t.Error(err)
	}
	_, err := w.n.Put(context.Background(), writer, &pb.PutRequest{Key: []byte("/semaphore/a/u"), Value: []byte("2"), PrevKv: true})
	refused(t, err, denied)
	_, err = w.n.DeleteRange(reader, &pb.DeleteRangeRequest{Key: []byte("/semaphore/a/"), RangeEnd: prefixEnd("/semaphore/a/")})
	refused(t, err, denied)
	got, err := w.n.Range(reader, &pb.RangeRequest{Key: []byte("/semaphore/"), RangeEnd: prefixEnd("/semaphore/")})
	must(t, err)
	same(t, shorts(got.Kvs), "/semaphore/a=5/900", "/semaphore/a/t=ACQUIRED 1", "/semaphore/a/u=ACQUIRED 2")
	got, err = w.n.Range(writer, &pb.RangeRequest{Key: []byte("/semaphore/"), RangeEnd: prefixEnd("/semaphore/")})
	must(t, err)
	same(t, shorts(got.Kvs))
}

// Deleting and comparing require permissions, too: configure for a semaphore, write for a task,
// read for returned or compared values.
func TestPermissionsOfDeleteAndCompare(t *testing.T) {
	w := newWorld(t)
	w.put("/semaphore/a", "")
	w.put("/semaphore/a/t", "1")
	reader, writer, maker := w.user("reader", "", "", "a"), w.user("writer", "", "a", ""), w.user("maker", "a", "", "")
	deletes := func(who Caller, r *pb.DeleteRangeRequest) error {
		_, err := w.n.DeleteRange(who, r)
		return err
	}
	compares := func(who Caller, key string) error {
		return w.n.CheckCompare(who, &pb.Compare{Key: []byte(key), Target: pb.Compare_VERSION})
	}
	tasks := &pb.RangeRequest{Key: []byte("/semaphore/a/"), RangeEnd: prefixEnd("/semaphore/a/")}
	_, ofTasks := w.n.Range(writer, tasks)
	for name, err := range map[string]error{
		"a semaphore, with write":              deletes(writer, &pb.DeleteRangeRequest{Key: []byte("/semaphore/a")}),
		"a task, with configure":               deletes(maker, &pb.DeleteRangeRequest{Key: []byte("/semaphore/a/t")}),
		"a task and what it was, with write":   deletes(writer, &pb.DeleteRangeRequest{Key: []byte("/semaphore/a/t"), PrevKv: true}),
		"what it was, with configure":          deletes(maker, &pb.DeleteRangeRequest{Key: []byte("/semaphore/a"), PrevKv: true}),
		"comparing a semaphore, with write":    compares(writer, "/semaphore/a"),
		"comparing a task, with configure":     compares(maker, "/semaphore/a/t"),
		"comparing what is not there":          compares(reader, "/semaphore/none"),
		"the tasks of a semaphore, with write": ofTasks,
	} {
		t.Run(name, func(t *testing.T) { refused(t, err, "PermissionDenied: etcdserver: permission denied") })
	}
	must(t, compares(reader, "/semaphore/a/t"))
	must(t, deletes(writer, &pb.DeleteRangeRequest{Key: []byte("/semaphore/a/t")}))
	must(t, deletes(maker, &pb.DeleteRangeRequest{Key: []byte("/semaphore/a")}))
	same(t, w.all("/semaphore/"))
}

// A range of tasks is released at once unless there are too many, otherwise in steps, and never
// together with the semaphore.
func TestDeleteRange(t *testing.T) {
	w := newWorld(t)
	w.put("/semaphore/s", `{"active":2}`)
	for _, task := range []string{"a1", "a2", "b1", "b2"} {
		w.put("/semaphore/s/"+task, "1")
	}
	r, err := w.n.DeleteRange(w.who, &pb.DeleteRangeRequest{Key: []byte("/semaphore/s/a"), RangeEnd: prefixEnd("/semaphore/s/a"), PrevKv: true})
	must(t, err)
	if r.Deleted != 2 || len(r.PrevKvs) != 2 {
		t.Errorf("%v", r)
	}
	same(t, w.all("/semaphore/s"), "/semaphore/s=2/900", "/semaphore/s/b1=ACQUIRED 1", "/semaphore/s/b2=ACQUIRED 1")

	const many = 3*maxAtOnce + 1
	var entries []semaphores.Entry
	for i := range many {
		entries = append(entries, semaphores.Entry{Task: fmt.Sprint("t", i)})
	}
	must(t, w.n.do(&semaphores.Enqueue{Of: semaphores.Of{Key: "s"}, Entries: entries}))
	x := w.watchAll("/semaphore/s/")
	all := &pb.DeleteRangeRequest{Key: []byte("/semaphore/s/t"), RangeEnd: prefixEnd("/semaphore/s/t"), PrevKv: true}
	_, err = w.n.DeleteRange(w.who, all)
	refused(t, err, "InvalidArgument: etcdserver: a transaction, or a delete with prev_kv, can delete at most 10000 tasks")
	all.PrevKv = false
	if r, err = w.n.DeleteRange(w.who, all); err != nil || r.Deleted != many {
		t.Fatalf("%v, %v", r, err)
	}
	for _, e := range x.events(many) {
		if e.Type != 1 {
			t.Fatalf("one of them came to run meanwhile: %v", e)
		}
	}
	same(t, w.all("/semaphore/s/"), "/semaphore/s/b1=ACQUIRED 1", "/semaphore/s/b2=ACQUIRED 1")
}
