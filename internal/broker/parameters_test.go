package broker

import (
	"encoding/json"
	"fmt"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// A reader that caches definitions by their version never keeps outdated ones.
func TestVersionChanges(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	_, err := b.PutVHost(VHostSpec{Name: "v"})
	must(t, err)
	c := newClient(t, b)
	other := b.Version("v")
	seen := map[uint64]string{b.Version("/"): "the beginning"}
	for i, change := range []func() error{
		func() error { return declare(c, QueueSpec{Name: "q", Durable: true}) },
		func() error { return declare(c, QueueSpec{Name: "own", Exclusive: true}) },
		func() error { return c.DeclareExchange(ExchangeSpec{Name: "x", Type: "fanout"}) },
		func() error { return c.Bind(BindSpec{Source: "x", Destination: "q"}) },
		func() error {
			return b.SetParameter(Parameter{VHost: "/", Component: "c", Name: "n", Value: json.RawMessage("1")})
		},
		func() error {
			return b.SetParameter(Parameter{VHost: "/", Component: "c", Name: "n", Value: json.RawMessage("2")})
		},
		func() error { return b.DeleteParameter("/", "c", "n") },
		func() error { return c.Unbind(BindSpec{Source: "x", Destination: "q"}) },
		func() error { _, err := c.DeleteQueue("q", false, false); return err },
		func() error { return c.DeleteExchange("x", false) },
	} {
		must(t, change())
		v := b.Version("/")
		if was, ok := seen[v]; ok || v != c.Version() {
			t.Errorf("change %d: version %d as after %s, the session has %d", i, v, was, c.Version())
		}
		seen[v] = fmt.Sprint("change ", i)
	}
	if b.Version("v") != other {
		t.Error("the other virtual host changed")
	}
	must(t, b.DeleteVHost("v"))
	if v := b.Version("v"); v != 0 {
		t.Errorf("version %d of what is not there", v)
	}
	_, err = b.PutVHost(VHostSpec{Name: "v"})
	must(t, err)
	if v := b.Version("v"); v == 0 || v == other {
		t.Errorf("the new one has the version of the old one, %d", v)
	}
	c.Close()
	mustClose(t, b)
}
