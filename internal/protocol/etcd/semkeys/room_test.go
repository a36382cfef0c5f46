package semkeys

import (
	"context"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// While the disk is low on space nothing is added. Existing tasks and semaphores can be changed.
func TestDiskShort(t *testing.T) {
	fs, leases := vfs.NewMem(), &leaseSet{there: map[int64]bool{}}
	w := openWorld(t, fs, leases)
	w.put("/semaphore/a", `{"active":1}`)
	w.put("/semaphore/a/x", "1")
	w.put("/semaphore/a/y", "2")
	w.close()
	w = openWorld(t, fs, leases, func(o *broker.Options) { o.DiskFreeLimit = 1 << 62 })
	late := time.After(10 * time.Second)
	for round := time.NewTicker(10 * time.Millisecond); w.b.Alarm() == nil; {
		select {
		case <-round.C:
		case <-late:
			t.Fatal("no alarm")
		}
	}
	for key, value := range map[string]string{"/semaphore/b": "", "/semaphore/a/z": "1"} {
		_, err := w.n.Put(context.Background(), w.who, &pb.PutRequest{Key: []byte(key), Value: []byte(value)})
		refused(t, err, "ResourceExhausted: etcdserver: mvcc: database space exceeded")
	}
	w.put("/semaphore/a", `{"active":2}`)
	w.put("/semaphore/a/y", "3")
	same(t, w.all("/semaphore/a/"), "/semaphore/a/x=ACQUIRED 1", "/semaphore/a/y=ACQUIRED 3")
}
