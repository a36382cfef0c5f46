package broker

import (
	"errors"
	"testing"
	"testing/synctest"

	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/faultlog"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// faulty opens a broker on a log that injects faults, and a client.
func faulty(t *testing.T, shards int) (*Broker, *client, *faultlog.Log) {
	t.Helper()
	var log *faultlog.Log
	b := openBroker(t, vfs.NewMem(), func(o *Options) {
		o.Shards = shards
		o.WrapLog = func(st *store.Store) shardlog.Log { log = faultlog.New(st); return log }
	})
	return b, newClient(t, b), log
}

// held is a request that must not be answered while the log is stalled.
type held struct {
	name string
	ask  func(c *client) error // needs no entry of its own
}

var unlogged = []held{
	{"a count", func(c *client) error { return c.Do(&Count{OnQueue: OnQueue{Queue: "q"}}) }},
	{"counts on two shards at one moment", func(c *client) error {
		return c.DoAll(&Count{OnQueue: OnQueue{Queue: "q"}}, &Count{OnQueue: OnQueue{Queue: "r"}})
	}},
	{"a purge of nothing", func(c *client) error { _, err := c.PurgeQueue("q"); return err }},
}

// An answer that needs no entry shows earlier changes, so it waits until these are durable.
func TestAnswersWithoutAnEntryWait(t *testing.T) {
	for _, k := range unlogged {
		t.Run(k.name, func(t *testing.T) {
			for _, fails := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) { looksPastTheLog(t, k, fails) })
			}
		})
	}
}

func looksPastTheLog(t *testing.T, k held, fails bool) {
	b, c, log := faulty(t, 2)
	defer b.Close() //nolint:errcheck // a log that has failed says so
	c.queue("q", nil)
	c.queue("r", nil)
	must(t, k.ask(c)) // at once, because everything is durable
	log.Hold()
	other := newClient(t, b)
	seq := c.post("", "q", "a", nil)
	c.Flush()
	synctest.Wait()
	answer := make(chan error, 1)
	go func() { answer <- k.ask(other) }()
	synctest.Wait()
	select {
	case err := <-answer:
		t.Fatalf("answered before the message is in the log: %v", err)
	default:
	}
	if fails {
		log.Fail(0, faultlog.Refused)
	}
	log.Release()
	err := <-answer
	synctest.Wait()
	if fails != errors.Is(err, ErrLogFailed) || !fails && err != nil {
		t.Errorf("answered %v", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if fails != (c.nacks[seq] == 1) || fails == (c.acks[seq] == 1) {
		t.Errorf("confirms %v, refusals %v", c.acks, c.nacks)
	}
}

// A duplicate is confirmed with its original, which may not be durable yet.
func TestDuplicatesWaitForTheirOriginals(t *testing.T) {
	for _, k := range []struct {
		name     string
		exchange string
		outcome  faultlog.Outcome
		fails    bool
	}{
		{name: "of a queue"},
		{name: "of an exchange", exchange: "x"},
		{name: "of a queue, refused", outcome: faultlog.Refused, fails: true},
		{name: "of an exchange, unknown", exchange: "x", outcome: faultlog.Unknown, fails: true},
	} {
		t.Run(k.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, c, log := faulty(t, 1)
				defer b.Close() //nolint:errcheck // a log that has failed says so
				c.queue("q", once(10, -1))
				c.queue("r", nil)
				c.sieve("x", "fanout", message.Table{})
				must(t, c.Bind(BindSpec{Source: "x", Destination: "r"}))
				log.Hold()
				post := func(body string) uint64 { return c.postProps(k.exchange, "q", body, persistentKey("k"), nil) }
				original := post("a")
				c.Flush()
				synctest.Wait()
				duplicate := post("a again")
				c.Flush()
				synctest.Wait()
				if n := c.acks[duplicate] + c.nacks[duplicate]; n != 0 {
					t.Fatal("answered before its original is in the log")
				}
				if k.fails {
					log.Fail(0, k.outcome)
				}
				log.Release()
				synctest.Wait()
				for _, seq := range []uint64{original, duplicate} {
					if want := map[bool]map[uint64]int{false: c.acks, true: c.nacks}[k.fails]; want[seq] != 1 {
						t.Errorf("publish %d: confirms %v, refusals %v", seq, c.acks, c.nacks)
					}
				}
				if n := b.Stats().Duplicates; n != 1 {
					t.Errorf("%d duplicates", n)
				}
			})
		})
	}
}

func persistentKey(v any) message.Properties {
	p := key(v)
	p.Flags |= message.HasDeliveryMode
	p.DeliveryMode = 2
	return p
}
