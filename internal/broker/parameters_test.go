package broker

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"fiveways/internal/storage/vfs"
)

func parameterList(b *Broker, vhost, component string) (list []string) {
	for _, p := range b.Parameters(vhost, component) {
		list = append(list, p.Name+"="+string(p.Value))
	}
	return list
}

// Parameters are definitions: a restart and a checkpoint keep them, their virtual host takes them along.
func TestParameters(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs, nil)
	_, err := b.PutVHost(VHostSpec{Name: "v"})
	must(t, err)
	set := func(vhost, component, name, value string) {
		t.Helper()
		must(t, b.SetParameter(Parameter{vhost, component, name, json.RawMessage(value)}))
	}
	set("/", "mbus", "b", `{"n": 1, "text": "<ж>"}`)
	set("/", "mbus", "a", `[]`)
	set("/", "mbus", "old", `1`)
	set("/", "mbus", "\xff", `0`)
	set("/", "other", "a", `true`)
	set("v", "mbus", "a", `5`)
	set("", "mbus", "a", `"the broker's"`)
	set("/", "mbus", "a", `"again"`)
	must(t, b.DeleteParameter("/", "mbus", "old"))
	must(t, b.DeleteParameter("/", "mbus", "never there"))
	check := func() {
		t.Helper()
		sameStrings(t, parameterList(b, "/", "mbus"), `a="again"`, `b={"n":1,"text":"<ж>"}`, "\xff=0")
		sameStrings(t, parameterList(b, "/", "other"), "a=true")
		sameStrings(t, parameterList(b, "v", "mbus"), "a=5")
		sameStrings(t, parameterList(b, "", "mbus"), `a="the broker's"`)
		sameStrings(t, parameterList(b, "nowhere", "mbus"))
		if p, ok := b.Parameter("v", "mbus", "a"); !ok || string(p.Value) != "5" {
			t.Errorf("a is %s, %v", p.Value, ok)
		}
		if _, ok := b.Parameter("v", "mbus", "b"); ok {
			t.Error("b is in the wrong place")
		}
	}
	check()
	hash, err := b.Hash()
	must(t, err)
	for _, how := range []string{"log", "checkpoint"} {
		if how == "checkpoint" {
			must(t, b.checkpointTopology())
		}
		crashed := fs.CrashClone(rand.New(rand.NewPCG(1, 1)))
		mustClose(t, b)
		fs = crashed
		b = openBroker(t, fs, nil)
		check()
		if again, _ := b.Hash(); again != hash {
			t.Errorf("%s: another hash", how)
		}
	}
	must(t, b.DeleteVHost("v"))
	_, err = b.PutVHost(VHostSpec{Name: "v"})
	must(t, err)
	sameStrings(t, parameterList(b, "v", "mbus"))
	mustClose(t, b)
	b = openBroker(t, fs, nil)
	sameStrings(t, parameterList(b, "v", "mbus"))
	mustClose(t, b)
}

func TestParameterErrors(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	for _, k := range []struct {
		p    Parameter
		want error
	}{
		{Parameter{"nowhere", "c", "n", json.RawMessage("1")}, ErrVHostNotFound},
		{Parameter{"/", "", "n", json.RawMessage("1")}, ErrInvalidName},
		{Parameter{"/", "c", "", json.RawMessage("1")}, ErrInvalidName},
		{Parameter{"/", "c", "n", json.RawMessage("{")}, ErrInvalidParameter},
		{Parameter{"/", "c", "n", nil}, ErrInvalidParameter},
	} {
		if err := b.SetParameter(k.p); !errors.Is(err, k.want) {
			t.Errorf("%+v: %v", k.p, err)
		}
	}
	if err := b.DeleteParameter("nowhere", "c", "n"); !errors.Is(err, ErrVHostNotFound) {
		t.Error(err)
	}
	mustClose(t, b)
}

// Whoever remembers definitions by their version never keeps what was changed.
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
		func() error { return b.SetParameter(Parameter{"/", "c", "n", json.RawMessage("1")}) },
		func() error { return b.SetParameter(Parameter{"/", "c", "n", json.RawMessage("2")}) },
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

// Who follows a component hears of each change of it, and of virtual hosts that go, and not of others.
func TestOnParameters(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	heard := 0
	b.OnParameters("c", func() { heard++ })
	_, err := b.PutVHost(VHostSpec{Name: "v"})
	must(t, err)
	for i, change := range []func() error{
		func() error { return b.SetParameter(Parameter{"v", "c", "n", json.RawMessage("1")}) },
		func() error { return b.SetParameter(Parameter{"", "c", "n", json.RawMessage("1")}) },
		func() error { return b.DeleteParameter("", "c", "n") },
		func() error { return b.DeleteVHost("v") },
	} {
		must(t, b.SetParameter(Parameter{"/", "other", "n", json.RawMessage("1")}))
		must(t, change())
		if heard != i+1 {
			t.Errorf("heard %d times after %d changes", heard, i+1)
		}
	}
	mustClose(t, b)
}
