package mbus

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// TestCommitDuringAlarm: while an alarm is on, a transaction that posts waits at its commit, until
// the alarm is over or the statement is canceled. One that only consumes does not wait.
func TestCommitDuringAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := openBroker(t, vfs.NewMem())
		defer enginetest.Close(t, engine)
		a, b := newCaller(t, engine, "guest"), newCaller(t, engine, "guest")
		a.call("create_queue", "q", 1)
		a.call("create_queue", "r", 1)
		a.call("post", "q", "n=>1")
		a.call("post", "q", "n=>2")
		low := []string{"n1"}
		engine.WatchDisks(func() []string { return low })
		<-time.After(2 * time.Second)
		if engine.Alarm() == nil {
			t.Fatal("no alarm")
		}
		if got := dataOf(b.call("consume", "q")[0]); got != `"n"=>"1"` {
			t.Errorf("consumed %s", got)
		}

		move := func(ctx context.Context) chan error {
			a.begin()
			a.call("consume", "q")
			a.call("post", "r", "n=>3")
			ended := make(chan error, 1)
			go func() { ended <- a.s.Commit(ctx) }()
			synctest.Wait()
			select {
			case err := <-ended:
				t.Fatalf("the commit did not wait: %v", err)
			default:
			}
			return ended
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := move(ctx)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("canceled commit: %v", err)
		}
		ended = move(context.Background()) // gets the message that the canceled one had consumed
		low = nil
		if err := <-ended; err != nil {
			t.Error(err)
		}
		a.open = false
		b.consumes("q")
		b.consumes("r", `"n"=>"3"`)
	})
}

// TestCommitOverTheRate: a transaction whose posts are over the rate limit waits at its commit
// until the statement is canceled.
func TestCommitOverTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := openBroker(t, vfs.NewMem())
		defer enginetest.Close(t, engine)
		a := newCaller(t, engine, "guest")
		a.call("create_queue", "q", 1)
		if err := engine.SetUserLimit("guest", catalog.LimitPublishRate, 0); err != nil {
			t.Fatal(err)
		}
		a.begin()
		a.call("post", "q", "n=>1")
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- a.s.Commit(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("canceled commit: %v", err)
		}
		a.open = false
		if err := engine.SetUserLimit("guest", catalog.LimitPublishRate, -1); err != nil {
			t.Fatal(err)
		}
		a.consumes("q")
	})
}
