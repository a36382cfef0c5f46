package broker

import (
	"testing"
	"testing/synctest"

	"fiveways/internal/storage/vfs"
)

// A letter that must arrive is on its way while its queue is deleted: it is kept, for it did not arrive.
func TestInsistsWhileTheTargetIsDeleted(t *testing.T) {
	for name, shards := range map[string]int{"same shard": 1, "another": 2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = shards })
				defer mustClose(t, b)
				c := newClient(t, b)
				defer c.Close()
				c.queue("src", insisting("", "dead"))
				c.queue("dead", nil)
				c.put("", "src", "m", nil)
				q, _ := c.vhost.queue("dead")
				must(t, q.shard.call(func() { q.shard.drop(q, dropWhen{}) })) // the first half of a deletion
				c.rejectAll("src")
				synctest.Wait()
				wantCounts(t, c, "src", 0, 1)
				b.deleteQueue(q) // the second
				c.queue("dead", nil)
				synctest.Wait()
				sameStrings(t, c.drain("dead"), "m")
				wantCounts(t, c, "src", 0, 0)
			})
		})
	}
}
