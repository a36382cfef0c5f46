package catalog

import (
	"encoding/json"
	"testing"

	"fiveways.dev/fiveways/internal/core/access"
	"fiveways.dev/fiveways/internal/core/shardstate"
)

// noEngine ignores changes of definitions.
type noEngine struct{}

func (noEngine) NewVHost() *VHost                          { return &VHost{} }
func (noEngine) NewQueue() *Queue                          { return &Queue{} }
func (noEngine) Build(*Queue)                              {}
func (noEngine) Place(*VHost, uint64, *QueuePolicy) uint32 { return 1 }
func (noEngine) Added(*Queue)                              {}
func (noEngine) LimitVHost(*VHost, Limits)                 {}
func (noEngine) LimitUser(string, Limits)                  {}
func (noEngine) DropUser(string)                           {}
func (noEngine) TableChanged()                             {}
func (noEngine) Removed(*Queue)                            {}

// TestFactBytes pins the bytes of facts, which are on disk and must not change.
// docs/format/facts.md describes them; those of messages are pinned in internal/core/shardstate.
func TestFactBytes(t *testing.T) {
	topology := topologyFact{VHost: "/", Binding: &bindingFact{Source: "x", ToQueue: 4, Key: "k"}}
	if got, want := string(topology.Append(nil)), "\x3e\x10"+`{"vhost":"/","binding":{"source":"x","to_queue":4,"key":"k"}}`; got != want {
		t.Errorf("topology: %q, want %q", got, want)
	}
}

func TestAccessFactBytes(t *testing.T) {
	for _, c := range []struct {
		fact *AccessFact
		want string
	}{
		{&AccessFact{VHost: &VHostFact{Name: "v", Limits: Limits{LimitQueues: 5}}}, `{"vhost":{"name":"v","limits":{"max-queues":5}}}`},
		{&AccessFact{Delete: true, User: &UserFact{Name: "u"}}, `{"delete":true,"user":{"name":"u"}}`},
		{&AccessFact{User: &UserFact{Name: "u", Secret: access.Secret{Algorithm: "a", Hash: "h", Scram: "s"}, Tags: []string{"t"}, LoopbackOnly: true, Made: 7}},
			`{"user":{"name":"u","algorithm":"a","hash":"h","scram":"s","tags":["t"],"loopback_only":true,"made":7}}`},
		{&AccessFact{Permission: &PermissionFact{"u", "v", "c", "w", "r"}}, `{"permission":{"user":"u","vhost":"v","configure":"c","write":"w","read":"r"}}`},
		{&AccessFact{Topic: &TopicFact{"u", "v", "x", "w", "r"}}, `{"topic_permission":{"user":"u","vhost":"v","exchange":"x","write":"w","read":"r"}}`},
		{&AccessFact{Reset: true}, `{"reset":true}`},
	} {
		want := string(append(shardstate.AppendFact(nil, 17, len(c.want)), c.want...))
		if got := string(c.fact.Append(nil)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// FuzzAccessFacts applies damaged facts. The result must be an error or a change, never a panic,
// and the resulting facts must be replayable.
func FuzzAccessFacts(f *testing.F) {
	for _, fact := range defaults {
		f.Add(mustPayload(fact))
	}
	f.Add([]byte(`{"permission":{"user":"guest","vhost":"/","write":"("}}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		s := New(noEngine{}, Options{})
		if s.Apply(1, append([]byte{factAccess}, payload...)) != nil {
			return
		}
		again := New(noEngine{}, Options{})
		for _, f := range s.accessFacts() {
			if err := again.Apply(1, append([]byte{factAccess}, mustPayload(f)...)); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := again.Hash(), s.Hash(); got != want {
			t.Errorf("replayed: %x, want %x", got, want)
		}
	})
}

func mustPayload(f Fact) []byte {
	b, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	return b
}
