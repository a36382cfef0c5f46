package broker

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"fiveways/internal/storage/store"
	"fiveways/internal/storage/vfs"
)

// wantDescription is what fillToDescribe makes.
var wantDescription = Description{VHosts: []VHostDescription{{
	Name:      "/",
	Exchanges: []ExchangeDescription{{"amq.topic", "topic", 1}, {"idle", "direct", 0}, {"news", "fanout", 2}},
	Queues:    []QueueDescription{{Name: "empty"}, {Name: "later", Scheduled: 1}, {Name: "north", Ready: 3, Bytes: 12, Bindings: 2}, {Name: "south", Ready: 2, Bytes: 8, Bindings: 1}},
	Bindings:  3,
}}, Users: 1}

// fillToDescribe declares and publishes over both shards, and lets a message be settled and another
// be out.
func fillToDescribe(t *testing.T, b *Broker) *client {
	t.Helper()
	c := newClient(t, b)
	for _, name := range []string{"north", "south", "empty", "gone", "later"} {
		c.queue(name, nil)
	}
	c.queue("passing", func(s *QueueSpec) { s.Durable = false })
	must(t, c.DeclareExchange(ExchangeSpec{Name: "news", Type: "fanout", Durable: true}))
	must(t, c.DeclareExchange(ExchangeSpec{Name: "idle", Type: "direct", Durable: true}))
	must(t, c.Bind(BindSpec{Source: "news", Destination: "north"}))
	must(t, c.Bind(BindSpec{Source: "news", Destination: "south"}))
	must(t, c.Bind(BindSpec{Source: "amq.topic", Destination: "north", Key: "#"}))
	for range 3 {
		c.put("news", "", "body", nil)
	}
	c.put("", "later", "body", func(p *Publish) { p.NotBefore = b.nowMillis() + 3_600_000 })
	if _, _, ok, err := c.Get("south", true); !ok || err != nil {
		t.Fatalf("get: %v, %v", ok, err)
	}
	if _, _, ok, err := c.Get("north", false); !ok || err != nil { // out: a start makes it ready again
		t.Fatalf("get: %v, %v", ok, err)
	}
	if _, err := c.DeleteQueue("gone", false, false); err != nil {
		t.Fatal(err)
	}
	syncAll(t, b)
	return c
}

func TestDescribe(t *testing.T) {
	for name, stop := range map[string]func(*vfs.Mem, *Broker, *client) *vfs.Mem{
		"after a clean stop": func(fs *vfs.Mem, b *Broker, c *client) *vfs.Mem {
			c.Close()
			mustClose(t, b)
			return fs
		},
		"after a crash": func(fs *vfs.Mem, b *Broker, _ *client) *vfs.Mem {
			clone := fs.CrashClone(rand.New(rand.NewPCG(1, 2)))
			mustClose(t, b)
			return clone
		},
	} {
		t.Run(name, func(t *testing.T) {
			fs := vfs.NewMem()
			b := openBroker(t, fs, nil)
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
			again := openBroker(t, fs, nil)
			if n := again.Stats().Queues; n != len(wantDescription.VHosts[0].Queues) {
				t.Errorf("%d queues after the start", n)
			}
			mustClose(t, again)
		})
	}
}

func TestDescribeNeedsTheFolder(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs, nil)
	if _, err := Describe(fs, "data", nil); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("in use: %v", err)
	}
	mustClose(t, b)
	f, err := fs.OpenReadWrite("data/seg-0000000000000001.log")
	must(t, err)
	_, err = f.WriteAt([]byte{0xff}, 20)
	must(t, err)
	must(t, f.Close())
	if _, err := Describe(fs, "data", nil); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("damaged: %v", err)
	}
}
