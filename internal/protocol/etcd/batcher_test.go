package etcd

import (
	"fmt"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// heldDisk is a disk whose syncs block while it is held.
type heldDisk struct {
	vfs.FS
	gate sync.RWMutex // read-locked by a sync
	at   chan struct{}
}

type heldFile struct {
	vfs.File
	disk *heldDisk
}

func newHeldDisk(fs vfs.FS) *heldDisk { return &heldDisk{FS: fs, at: make(chan struct{}, 1)} }

func (d *heldDisk) Create(path string) (vfs.File, error) {
	f, err := d.FS.Create(path)
	return heldFile{f, d}, err
}

func (f heldFile) Datasync() error {
	select {
	case f.disk.at <- struct{}{}:
	default:
	}
	f.disk.gate.RLock()
	defer f.disk.gate.RUnlock()
	return f.File.Datasync()
}

// Puts of many goroutines on one connection are all answered, each with its own revision and a
// complete header, also along with other calls: the connection's reader does some of the work, and
// leaves the rest to goroutines.
func TestPutsTogether(t *testing.T) {
	const writers, each = 16, 3 * unmixed / 4
	n := newNode(t, Options{})
	c, other := dial(t, n.addr), dial(t, n.addr)
	var all sync.WaitGroup
	var mu sync.Mutex
	seen := map[int64]bool{}
	for w := range writers {
		all.Go(func() {
			for i := range each {
				key, value := fmt.Sprint("k", w), fmt.Sprint(i)
				r, err := c.Put(t.Context(), key, value)
				if err != nil {
					t.Error(err)
					return
				}
				want := &pb.ResponseHeader{Revision: r.Header.Revision}
				if n.keys.Fill(want); r.Header.String() != want.String() {
					t.Errorf("header %v, want %v", r.Header, want)
				}
				mu.Lock()
				seen[r.Header.Revision] = true
				mu.Unlock()
				if w > 0 || i < each/2 {
					continue
				}
				got, err := other.Get(t.Context(), key)
				if err != nil || string(got.Kvs[0].Value) != value || got.Kvs[0].ModRevision != r.Header.Revision {
					t.Errorf("%v %v after the put of %s", got, err, value)
				}
				if _, err := c.Put(t.Context(), "/q/a/p/"+value, value); err != nil {
					t.Error(err)
				}
				for want := int64(1); want >= 0; want-- {
					if r, err := c.Delete(t.Context(), key); err != nil || r.Deleted != want || r.Header.Revision < got.Header.Revision {
						t.Errorf("deleted %v (%v), want %d", r, err, want)
					}
				}
			}
		})
	}
	all.Wait()
	if len(seen) != writers*each {
		t.Errorf("%d revisions of %d puts", len(seen), writers*each)
	}
}

// On a connection that does not only put, no other call waits for the disk behind a put.
func TestReadBehindPut(t *testing.T) {
	n := newNode(t, Options{})
	c := dial(t, n.addr)
	putKey(t, c, "a", "1")
	select { // discard the syncs so far
	case <-n.disk.at:
	default:
	}
	n.disk.gate.Lock()
	put := make(chan error, 1)
	go func() {
		_, err := c.Put(t.Context(), "a", "2")
		put <- err
	}()
	<-n.disk.at
	got, err := c.Get(t.Context(), "a")
	if err != nil || string(got.Kvs[0].Value) != "1" {
		t.Errorf("got %v (%v) before the put is durable", got, err)
	}
	select {
	case err := <-put:
		t.Errorf("the put was answered before it was durable: %v", err)
	default:
	}
	n.disk.gate.Unlock()
	if err := <-put; err != nil {
		t.Fatal(err)
	}
	if got, err = c.Get(t.Context(), "a"); err != nil || string(got.Kvs[0].Value) != "2" {
		t.Errorf("got %v (%v) after it", got, err)
	}
}
