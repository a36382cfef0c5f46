package definitions

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

func parameterList(b *node, vhost, component string) (list []string) {
	for _, p := range b.Parameters(vhost, component) {
		list = append(list, p.Name+"="+string(p.Value))
	}
	return list
}

// Parameters are definitions: they survive a restart and a checkpoint, and are deleted with their
// virtual host.
func TestParameters(t *testing.T) {
	fs := vfs.NewMem()
	b := openNode(t, fs)
	_, err := b.PutVHost(catalog.VHostSpec{Name: "v"})
	must(t, err)
	set := func(vhost, component, name, value string) {
		t.Helper()
		must(t, b.SetParameter(catalog.Parameter{VHost: vhost, Component: component, Name: name, Value: json.RawMessage(value)}))
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
			must(t, b.checkpoint())
		}
		crashed := fs.CrashClone(rand.New(rand.NewPCG(1, 1)))
		mustClose(t, b)
		fs = crashed
		b = openNode(t, fs)
		check()
		if again, _ := b.Hash(); again != hash {
			t.Errorf("%s: another hash", how)
		}
	}
	must(t, b.DeleteVHost("v"))
	_, err = b.PutVHost(catalog.VHostSpec{Name: "v"})
	must(t, err)
	sameStrings(t, parameterList(b, "v", "mbus"))
	mustClose(t, b)
	b = openNode(t, fs)
	sameStrings(t, parameterList(b, "v", "mbus"))
	mustClose(t, b)
}

func TestParameterErrors(t *testing.T) {
	b := openNode(t, vfs.NewMem())
	for _, k := range []struct {
		p    catalog.Parameter
		want error
	}{
		{catalog.Parameter{VHost: "nowhere", Component: "c", Name: "n", Value: json.RawMessage("1")}, failure.ErrVHostNotFound},
		{catalog.Parameter{VHost: "/", Component: "", Name: "n", Value: json.RawMessage("1")}, failure.ErrInvalidName},
		{catalog.Parameter{VHost: "/", Component: "c", Name: "", Value: json.RawMessage("1")}, failure.ErrInvalidName},
		{catalog.Parameter{VHost: "/", Component: "c", Name: "n", Value: json.RawMessage("{")}, failure.ErrInvalidParameter},
		{catalog.Parameter{VHost: "/", Component: "c", Name: "n", Value: nil}, failure.ErrInvalidParameter},
	} {
		if err := b.SetParameter(k.p); !errors.Is(err, k.want) {
			t.Errorf("%+v: %v", k.p, err)
		}
	}
	if err := b.DeleteParameter("nowhere", "c", "n"); !errors.Is(err, failure.ErrVHostNotFound) {
		t.Error(err)
	}
	mustClose(t, b)
}

// A watcher of a component is notified of each change of it, of deleted virtual hosts, and of
// nothing else.
func TestOnParameters(t *testing.T) {
	b := openNode(t, vfs.NewMem())
	heard := 0
	b.OnParameters("c", func() { heard++ })
	_, err := b.PutVHost(catalog.VHostSpec{Name: "v"})
	must(t, err)
	for i, change := range []func() error{
		func() error {
			return b.SetParameter(catalog.Parameter{VHost: "v", Component: "c", Name: "n", Value: json.RawMessage("1")})
		},
		func() error {
			return b.SetParameter(catalog.Parameter{VHost: "", Component: "c", Name: "n", Value: json.RawMessage("1")})
		},
		func() error { return b.DeleteParameter("", "c", "n") },
		func() error { return b.DeleteVHost("v") },
	} {
		must(t, b.SetParameter(catalog.Parameter{VHost: "/", Component: "other", Name: "n", Value: json.RawMessage("1")}))
		must(t, change())
		if heard != i+1 {
			t.Errorf("heard %d times after %d changes", heard, i+1)
		}
	}
	mustClose(t, b)
}
