package inspect

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// wantDescription is what fillToDescribe makes.
var wantDescription = Description{VHosts: []VHostDescription{{
	Name:      "/",
	Exchanges: []ExchangeDescription{{"amq.topic", "topic", 1}, {"idle", "direct", 0}, {"news", "fanout", 2}},
	Queues:    []QueueDescription{{Name: "empty"}, {Name: "later", Scheduled: 1}, {Name: "north", Ready: 3, Bytes: 12, Bindings: 2}, {Name: "south", Ready: 2, Bytes: 8, Bindings: 1}},
	Bindings:  3,
}}, Users: 1}

var persistent = message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: 2}

// fillToDescribe declares and publishes over both shards, and lets a message be settled and another
// be out.
func fillToDescribe(t *testing.T, b *broker.Broker) *enginetest.Client {
	t.Helper()
	c := enginetest.NewClient(t, b)
	for _, name := range []string{"north", "south", "empty", "gone", "later"} {
		c.Queue(name, nil)
	}
	c.Queue("passing", func(s *catalog.QueueSpec) { s.Durable = false })
	enginetest.Must(t, c.DeclareExchange(catalog.ExchangeSpec{Name: "news", Type: "fanout", Durable: true}))
	enginetest.Must(t, c.DeclareExchange(catalog.ExchangeSpec{Name: "idle", Type: "direct", Durable: true}))
	enginetest.Must(t, c.Bind(catalog.BindSpec{Source: "news", Destination: "north"}))
	enginetest.Must(t, c.Bind(catalog.BindSpec{Source: "news", Destination: "south"}))
	enginetest.Must(t, c.Bind(catalog.BindSpec{Source: "amq.topic", Destination: "north", Key: "#"}))
	for range 3 {
		c.Post("news", "", "body", persistent, nil)
	}
	c.Put("later", "body", func(p *shard.Publish) { p.NotBefore = b.Now() + 3_600_000 })
	if _, _, ok, err := c.Get("south", true); !ok || err != nil {
		t.Fatalf("get: %v, %v", ok, err)
	}
	if _, _, ok, err := c.Get("north", false); !ok || err != nil { // out: a start makes it ready again
		t.Fatalf("get: %v, %v", ok, err)
	}
	if _, err := c.DeleteQueue("gone", false, false); err != nil {
		t.Fatal(err)
	}
	enginetest.Sync(t, b)
	return c
}

func TestDescribe(t *testing.T) {
	for name, stop := range map[string]func(*vfs.Mem, *broker.Broker, *enginetest.Client) *vfs.Mem{
		"after a clean stop": func(fs *vfs.Mem, b *broker.Broker, c *enginetest.Client) *vfs.Mem {
			c.Close()
			enginetest.Close(t, b)
			return fs
		},
		"after a crash": func(fs *vfs.Mem, b *broker.Broker, _ *enginetest.Client) *vfs.Mem {
			clone := fs.CrashClone(rand.New(rand.NewPCG(1, 2)))
			enginetest.Close(t, b)
			return clone
		},
	} {
		t.Run(name, func(t *testing.T) {
			fs := vfs.NewMem()
			b := enginetest.Open(t, fs, nil)
			fs = stop(fs, b, fillToDescribe(t, b))
			for range 2 { // the first look must not have changed what the second one finds
				got, err := Describe(fs, "data", nil)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, wantDescription) {
					t.Errorf("got  %+v\nwant %+v", got, wantDescription)
				}
			}
			again := enginetest.Open(t, fs, nil)
			if n := again.Stats().Queues; n != len(wantDescription.VHosts[0].Queues) {
				t.Errorf("%d queues after the start", n)
			}
			enginetest.Close(t, again)
		})
	}
}

func TestDescribeNeedsTheFolder(t *testing.T) {
	fs := vfs.NewMem()
	b := enginetest.Open(t, fs, nil)
	if _, err := Describe(fs, "data", nil); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("in use: %v", err)
	}
	enginetest.Close(t, b)
	f, err := fs.OpenReadWrite("data/seg-0000000000000001.log")
	enginetest.Must(t, err)
	_, err = f.WriteAt([]byte{0xff}, 20)
	enginetest.Must(t, err)
	enginetest.Must(t, f.Close())
	if _, err := Describe(fs, "data", nil); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("damaged: %v", err)
	}
}
