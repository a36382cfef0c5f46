package semaphores

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

func TestLife(t *testing.T) {
	n := open(t, vfs.NewMem())
	h := n.watch(WatchOptions{})
	n.create("k", 2, 1)
	n.enqueue("k", "a 1", "b 2", "c 3")
	n.shows("k", "c:ACQUIRED", "b:ACQUIRED", "a:WAIT")
	n.enqueue("k", "d 9")
	n.shows("k", "d:WAIT", "c:ACQUIRED", "b:TRY_RELEASE", "a:WAIT")
	n.release("k", "b")
	n.shows("k", "d:ACQUIRED", "c:ACQUIRED", "a:WAIT")
	n.same("events", h.events, []string{"k c Acquired 1", "k b Acquired 2", "k b TryRelease 3", "k d Acquired 4"})
	st := n.m.Stats()
	n.same("counts", fmt.Sprint(st.Semaphores, st.Tasks, st.Waiting, st.Transitions), "1 3 1 map[Acquired:3 Deleted:0 Expired:0 Retained:0 TryRelease:1]")
	want := hashOf(n.m)
	for i := range 4 {
		if i%2 == 0 {
			n = n.crash()
		} else {
			n.close()
			n = open(t, n.fs)
		}
		n.same("hash", hashOf(n.m), want)
		n.shows("k", "d:ACQUIRED", "c:ACQUIRED", "a:WAIT")
	}
	n.do(&Delete{Of: Of{Key: "k"}})
	look := &Look{Of: Of{Key: "k"}}
	n.must(n.m.Do(n.s, look))
	n.fails(look.Err, ErrNotFound)
	n.close()
}

// The log records at debug level which user created, changed and deleted a semaphore, once that is
// durable.
func TestLog(t *testing.T) {
	var out bytes.Buffer
	n := open(t, vfs.NewMem(), func(_ *broker.Options, o *Options) {
		o.Logger = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
	})
	s := n.user("ann", ".*", "", ".*")
	k := Of{Key: "k"}
	never := &Expect{Of: k, Holds: func(Info, bool, State) bool { return false }}
	n.fails(n.m.DoWith(s, Group{Must: true}, &Create{Of: k}, never), failure.ErrStale)
	n.must(n.m.Do(s, &Create{Of: k}, &Create{Of: k}, &Update{Of: k}, &Delete{Of: k}, &Delete{Of: k}))
	want := "level=DEBUG msg=\"semaphore created\" vhost=/ semaphore=k user=ann\n" +
		"level=DEBUG msg=\"semaphore updated\" vhost=/ semaphore=k user=ann\n" +
		"level=DEBUG msg=\"semaphore deleted\" vhost=/ semaphore=k user=ann\n"
	n.same("log", out.String(), want)
	n.close()
}
