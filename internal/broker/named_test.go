package broker

import (
	"errors"
	"math/rand/v2"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// A confirmed acknowledgement survives a crash, and one for a message that is gone gets an error.
func TestConfirmedAck(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs, nil)
	c := newClient(t, b)
	c.queue("q", nil)
	c.put("", "q", "a", nil)
	c.put("", "q", "b", nil)
	k := c.consume("q", nil)
	ds := c.take(2)
	c.AckConfirmed(ds[0].Queue, k, ds[0].Handle, 1, c, 100)
	c.AckConfirmed(ds[0].Queue, k, ds[0].Handle, 1, c, 101)
	c.Flush()
	c.until(func() bool { return c.acks[100] == 1 && c.nacks[101] == 1 })
	clone := fs.CrashClone(rand.New(rand.NewPCG(1, 1)))
	mustClose(t, b)

	b = openBroker(t, clone, nil)
	defer mustClose(t, b)
	sameStrings(t, newClient(t, b).drain("q"), "b")
}

// To creates a missing queue, also after a deletion, and notices a revoked permission.
func TestTo(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	first, err := c.To([]byte("q"))
	must(t, err)
	again, err := c.To([]byte("q"))
	must(t, err)
	if first.Queues()[0] != again.Queues()[0] {
		t.Fatal("a second queue")
	}
	if _, err := c.DeleteQueue("q", false, false); err != nil {
		t.Fatal(err)
	}
	other, err := c.To([]byte("q"))
	must(t, err)
	if other.Queues()[0] == first.Queues()[0] || !c.HasQueue("q") {
		t.Fatal("a deleted queue was not made again")
	}
	_, err = b.SetPermission(Permission{User: "guest", VHost: "/", Configure: ".*", Write: "^x", Read: ".*"})
	must(t, err)
	if _, err := c.To([]byte("q")); !errors.Is(err, ErrAccessRefused) || !errors.Is(c.MayWrite("q"), ErrAccessRefused) {
		t.Fatalf("after the permission was taken away: %v", err)
	}
}

// A session with Unheld also publishes while the log is behind, and Behind reports that.
func TestUnheld(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.MemoryLimit = 1 << 20 })
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", nil)
	c.Unheld()
	if b.Behind() {
		t.Fatal("behind before anything was published")
	}
	b.set.Memory.Add(2 << 20)
	defer b.set.Memory.Add(-2 << 20)
	if !b.Behind() && b.Alarm() == nil {
		t.Fatal("twice the memory is used, and it is not behind")
	}
	c.put("", "q", "a", nil)
}
