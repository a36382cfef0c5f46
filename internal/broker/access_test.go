package broker

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// hashOfP is a cheap hash of the password "p" for tests, computed as RabbitMQ does.
const hashOfP = "AQIDBJdEbMXW6f+VE3iMWG11UIgf0WmDaykMvsT/nerMRhNV"

// put1 drops the first result of methods that also report whether they created something.
func put1(_ bool, err error) error { return err }

// TestVHostDeletionIsWhole crashes at each disk operation of a deletion: after recovery the virtual
// host exists with every message, or not at all.
func TestVHostDeletionIsWhole(t *testing.T) {
	const messages = 5
	options := func(o *Options) { o.CheckpointBytes, o.SegmentBytes = 1, 4<<10 }
	for k := 1; ; k++ {
		mem := vfs.NewMem()
		fs := vfs.NewErrors(mem)
		b := openBroker(t, fs, options)
		must(t, put1(b.PutVHost(VHostSpec{Name: "v"})))
		must(t, put1(b.SetPermission(Permission{User: "guest", VHost: "v", Configure: ".*", Write: ".*", Read: ".*"})))
		c := newClientOn(t, b, "guest", "v")
		for _, q := range []string{"q1", "q2"} {
			c.queue(q, nil)
			for i := range messages {
				c.put("", q, fmt.Sprint("m", i), nil)
			}
		}
		newClient(t, b).queue("other", nil)
		c.Close()
		fs.CrashAt(k)
		deleted := b.DeleteVHost("v")
		b.checkpointDue(false)
		b.Close()
		for seed := range uint64(2) {
			again := openBroker(t, mem.CrashClone(rand.New(rand.NewPCG(uint64(k), seed))), options)
			if _, err := again.VHost("v"); err == nil {
				if deleted == nil {
					t.Fatalf("operation %d: deleted, and back", k)
				}
				c := newClientOn(t, again, "guest", "v")
				if a, b := len(c.drain("q1")), len(c.drain("q2")); a != messages || b != messages {
					t.Fatalf("operation %d: half of it is there: %d and %d messages", k, a, b)
				}
			} else if d := again.Permissions("", "v"); len(d) > 0 || again.Stats().Queues != 1 {
				t.Fatalf("operation %d: left behind: %+v, %d queues", k, d, again.Stats().Queues)
			}
			mustClose(t, again)
		}
		if !fs.Crashed() {
			return
		}
	}
}
