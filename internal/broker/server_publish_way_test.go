package broker

import (
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/faultlog"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A consumer gets a message of the server through another queue once it is durable.
func TestServerPublishByWayOfAQueue(t *testing.T) {
	for _, k := range []struct {
		name string
		make func(c *client)
	}{
		{"dead letter, same shard", func(c *client) { deadletterTo(c, 2, DropHead) }},
		{"dead letter, other shard", func(c *client) { deadletterTo(c, 1, DropHead) }},
		{"refused by a full queue, same shard", func(c *client) { deadletterTo(c, 2, RejectPublishDLX) }},
		{"refused by a full queue, other shard", func(c *client) { deadletterTo(c, 1, RejectPublishDLX) }},
		{"an exchange that de-duplicates", func(c *client) {
			c.sieve("x", "fanout", message.Table{})
			must(c.t, c.Bind(BindSpec{Source: "x", Destination: "to"}))
			must(c.t, c.Bind(BindSpec{Source: "events", Destination: "x", Key: "#", ToExchange: true}))
		}},
		{"an exchange that delays", func(c *client) {
			must(c.t, c.DeclareExchange(ExchangeSpec{Name: "x", Type: "x-delayed-message", Durable: true, Args: message.Table{{Name: "x-delayed-type", Value: "fanout"}}}))
			must(c.t, c.Bind(BindSpec{Source: "x", Destination: "to"}))
			must(c.t, c.Bind(BindSpec{Source: "events", Destination: "x", Key: "#", ToExchange: true}))
		}},
	} {
		t.Run(k.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log *faultlog.Log
				b := openBroker(t, vfs.NewMem(), func(o *Options) {
					o.Shards = 2
					withMachine(newTally())(o)
					o.WrapLog = func(st *store.Store) shardlog.Log { log = faultlog.New(st); return log }
				})
				defer b.Close() //nolint:errcheck
				c := newClient(t, b)
				defer c.Close()
				must(t, c.DeclareExchange(ExchangeSpec{Name: "events", Type: "topic", Durable: true}))
				c.queue("to", nil)
				k.make(c)
				c.consume("to", nil)
				log.Hold()
				done := make(chan error, 1)
				go func() {
					s, err := b.Operate("/")
					if err == nil {
						err = s.DoAll(emit("events", "k", "e"), note("e"))
					}
					done <- err
				}()
				if got := c.delivered(); len(got) > 0 {
					t.Errorf("%q before they are durable", got)
				}
				log.Release()
				must(t, <-done)
				synctest.Wait()
				if got := c.delivered(); len(got) != 1 {
					t.Errorf("in the end %q", got)
				}
			})
		})
	}
}

// deadletterTo creates a queue that dead-letters everything to "to", after this many other queues.
func deadletterTo(c *client, others int, overflow catalog.Overflow) {
	for range others - 1 {
		c.queue("other", nil)
	}
	c.queue("from", func(s *QueueSpec) {
		s.Policy.MaxLength, s.Policy.Overflow = 0, overflow
		s.Policy.DeadLetter, s.Policy.DeadLetterExchange, s.Policy.DeadLetterKey, s.Policy.HasDeadLetterKey = true, "", "to", true
	})
	must(c.t, c.Bind(BindSpec{Source: "events", Destination: "from", Key: "#"}))
}

// slowGroups delays groups with an entry of the state machine until everything else has happened.
type slowGroups struct {
	shardlog.Log
	mu       sync.Mutex
	appended []uint32 // the first shard of each group; that of the machine if it takes part
}

func (l *slowGroups) Append(group []store.Entry, done func(error)) {
	first := group[0].Shard
	if slices.ContainsFunc(group, func(e store.Entry) bool { return statemachine.Known(e.Shard) }) {
		first = statemachine.Keys
		<-time.After(time.Millisecond)
	}
	l.mu.Lock()
	l.appended = append(l.appended, first)
	l.mu.Unlock()
	l.Log.Append(group, done)
}

func (l *slowGroups) AppendInline(group []store.Entry, done func(error)) { l.Append(group, done) }

// If a full queue rejects a message of the server, its dead letter follows the message's group in
// the log, even on another shard: a crash cannot leave the dead letter alone.
func TestRefusedServerPublishIsBehindItsGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &slowGroups{}
		b := openBroker(t, vfs.NewMem(), func(o *Options) {
			o.Shards = 2
			withMachine(newTally())(o)
			o.WrapLog = func(st *store.Store) shardlog.Log { log.Log = st; return log }
		})
		defer b.Close() //nolint:errcheck
		c := newClient(t, b)
		defer c.Close()
		must(t, c.DeclareExchange(ExchangeSpec{Name: "events", Type: "topic", Durable: true}))
		c.queue("to", nil)
		deadletterTo(c, 1, RejectPublishDLX)
		to, _ := c.vhost.Queue("to")
		syncAll(t, b)
		log.mu.Lock()
		log.appended = nil
		log.mu.Unlock()
		s, err := b.Operate("/")
		must(t, err)
		must(t, s.DoAll(emit("events", "k", "e"), note("e")))
		synctest.Wait()
		if got := c.drain("to"); len(got) != 1 {
			t.Fatalf("dead letters: %q", got)
		}
		group := slices.Index(log.appended, statemachine.Keys)
		letter := slices.Index(log.appended, to.Home().ID)
		if group < 0 || letter < group {
			t.Errorf("groups in the log, by shard: %v; the dead letter's %d before its cause's", log.appended, to.Home().ID)
		}
	})
}

// A message of the server that passes through an exchange that holds messages (deduplication,
// delay) is delivered once it is durable.
func TestServerPublishByWayOfAnExchange(t *testing.T) {
	for _, typ := range []string{"dedup", "delayed"} {
		for _, same := range []bool{true, false} {
			t.Run(typ+map[bool]string{true: ", same shard", false: ", other shard"}[same], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var log *faultlog.Log
					b := openBroker(t, vfs.NewMem(), func(o *Options) {
						o.Shards = 2
						withMachine(newTally())(o)
						o.WrapLog = func(st *store.Store) shardlog.Log { log = faultlog.New(st); return log }
					})
					defer b.Close() //nolint:errcheck
					c := newClient(t, b)
					defer c.Close()
					if typ == "dedup" {
						c.sieve("x", "fanout", message.Table{})
					} else {
						must(t, c.DeclareExchange(ExchangeSpec{Name: "x", Type: "x-delayed-message", Durable: true, Args: message.Table{{Name: "x-delayed-type", Value: "fanout"}}}))
					}
					if same {
						c.queue("filler", nil)
					}
					c.queue("to", nil)
					must(t, c.Bind(BindSpec{Source: "x", Destination: "to"}))
					buffer := c.bufferOn("x")
					to, _ := c.vhost.Queue("to")
					if (buffer.Home() == to.Home()) != same {
						t.Fatal("shards", buffer.Home().ID, to.Home().ID)
					}
					c.consume("to", nil)
					log.Hold()
					done := make(chan error, 1)
					key := message.Field{Name: "x-deduplication-header", Value: "1"}
					go func() {
						s, err := b.Operate("/")
						if err == nil {
							err = s.DoAll(emit("x", "k", "e", key), note("e"))
						}
						done <- err
					}()
					if got := c.delivered(); len(got) > 0 {
						t.Errorf("%q before they are durable", got)
					}
					log.Release()
					must(t, <-done)
					synctest.Wait()
					if got := c.delivered(); len(got) != 1 {
						t.Errorf("in the end %q", got)
					}
				})
			})
		}
	}
}
