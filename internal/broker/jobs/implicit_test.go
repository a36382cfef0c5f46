package jobs

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// An implicitly created queue is deleted after some idle hours, unless it still remembers something
// relevant.
func TestImplicitQueuesOfJobsGo(t *testing.T) {
	hours := func(n float64) time.Duration { return time.Duration(n * float64(time.Hour)) }
	remember := func(b *broker.Broker, n float64) *Remember {
		return &Remember{OnQueue: enginetest.On("q"), ID: []byte("m"), Until: b.Now() + hours(n).Milliseconds()}
	}
	for name, tc := range map[string]struct {
		use   func(b *broker.Broker) broker.Command
		stays bool
	}{
		"asked for":         {func(*broker.Broker) broker.Command { return &Take{OnQueue: enginetest.On("q"), Create: true} }, false},
		"a remembered id":   {func(b *broker.Broker) broker.Command { return remember(b, 9) }, true},
		"an id for an hour": {func(b *broker.Broker) broker.Command { return remember(b, 1) }, false},
		"a job in backoff": {func(*broker.Broker) broker.Command {
			return &Enqueue{OnQueue: enginetest.On("q"), Backoff: hours(9).Milliseconds()}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fs := vfs.NewMem()
				b := openBroker(t, fs, nil)
				c := enginetest.NewClient(t, b)
				c.MustDo(tc.use(b))
				time.Sleep(hours(0.9))
				synctest.Wait()
				if !c.HasQueue("q") {
					t.Fatal("it has gone too soon")
				}
				time.Sleep(hours(2.5))
				synctest.Wait()
				if c.HasQueue("q") != tc.stays {
					t.Fatalf("it is there: %v", !tc.stays)
				}
				c.Close()
				enginetest.Close(t, b)
				again := openBroker(t, fs, nil)
				c = enginetest.NewClient(t, again)
				if c.HasQueue("q") != tc.stays {
					t.Fatal("after a start it is otherwise")
				}
				c.Close()
				enginetest.Close(t, again)
			})
		})
	}
}

// A queue of jobs that Clear empties is deleted at once.
func TestClearedQueuesOfJobsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), nil)
		defer enginetest.Close(t, b)
		c := enginetest.NewClient(t, b)
		defer c.Close()
		names := []string{"queued", "locked", "remembered"}
		c.MustDo(&Enqueue{OnQueue: enginetest.On("queued")}, &Enqueue{OnQueue: enginetest.On("locked")}, &Take{OnQueue: enginetest.On("locked")},
			&Remember{OnQueue: enginetest.On("remembered"), ID: []byte("m"), Until: 1 << 50})
		for _, q := range names {
			c.MustDo(&Clear{OnQueue: enginetest.On(q)})
		}
		synctest.Wait()
		for _, q := range names {
			if c.HasQueue(q) {
				t.Errorf("%q is there", q)
			}
		}
	})
}

// Implicitly created queues count towards the limit of a virtual host.
func TestQueueLimit(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	enginetest.Must(t, b.SetVHostLimit("/", catalog.LimitQueues, 0))
	c := enginetest.NewClient(t, b)
	defer c.Close()
	for _, k := range []broker.Command{&Take{OnQueue: enginetest.On("q"), Create: true}, &Enqueue{OnQueue: enginetest.On("q")}} {
		enginetest.Must(t, c.Do(k))
		if err := k.Failure(); !errors.Is(err, failure.ErrQueueLimit) {
			t.Errorf("%T: %v", k, err)
		}
	}
}

// The tap sees what is enqueued and taken.
func TestTap(t *testing.T) {
	var told []string
	b := openBroker(t, vfs.NewMem(), func(o *broker.Options) {
		o.Shards = 1
		o.Tap = func(m *shard.Tapped) message.Envelope {
			what := "sent "
			if m.HandedOut {
				what = "got "
			}
			told = append(told, what+string(m.Env.Body()))
			return message.AppendEnvelopeHeader(nil, routing.Tap, "told", (&message.Properties{}).Append(nil))
		}
	})
	defer enginetest.Close(t, b)
	c := enginetest.NewClient(t, b)
	defer c.Close()
	c.Queue("listener", nil)
	enginetest.Must(t, c.Bind(catalog.BindSpec{Source: routing.Tap, Destination: "listener", Key: "#"}))
	enginetest.Must(t, b.SetTapped("/", true))
	c.MustDo(&Enqueue{OnQueue: enginetest.On("q"), Body: []byte("job")}, &Take{OnQueue: enginetest.On("q")})
	if len(told) != 2 || told[0] != "sent job" || told[1] != "got job" {
		t.Errorf("the tap was told %q", told)
	}
}
