package etcd

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"fiveways.dev/fiveways/internal/core/catalog"
)

// When the virtual host "/" is deleted and created again, keys of queues and semaphores are those
// of the new one, on old connections, too.
func TestVHostCreatedAgain(t *testing.T) {
	n := controlled(t)
	c := dialAs(t, n.addr, "root", "root")
	use := func() {
		t.Helper()
		put(t, c, "/semaphore/s", `{"active":1}`)
		events := c.Watch(t.Context(), "/semaphore/s/", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
		<-events
		put(t, c, "/semaphore/s/a", "1")
		if e := nextEvents(t, events)[0]; string(e.Kv.Key) != "/semaphore/s/a" {
			t.Errorf("%v", e)
		}
		if got := semaphoreStatus(t, c, "/semaphore/s/a"); got != "ACQUIRED" {
			t.Errorf("the task is %q", got)
		}
		put(t, c, "/q/q/p/a", "v")
		if _, err := c.Txn(t.Context()).Then(clientv3.OpPut("/q/q/p/b", "v"), clientv3.OpPut("a", "v"), clientv3.OpPut("/semaphore/s/b", "1")).Commit(); err != nil {
			t.Error(err)
		}
		for key, want := range map[string]int64{"/q/q/0": 2, "/semaphore/s/": 2} {
			if r, err := c.Get(t.Context(), key, clientv3.WithPrefix()); err != nil || r.Count != want {
				t.Errorf("%s: %v, %v, want %d", key, r, err, want)
			}
		}
	}
	use()
	if err := n.broker.DeleteVHost("/"); err != nil {
		t.Fatal(err)
	}
	if _, err := n.broker.PutVHost(catalog.VHostSpec{Name: "/"}); err != nil {
		t.Fatal(err)
	}
	use()
}
