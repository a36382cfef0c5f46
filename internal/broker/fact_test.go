package broker

import (
	"bytes"
	"encoding/hex"
	"slices"
	"testing"

	"fiveways/internal/core/dedup"
	"fiveways/internal/core/job"
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
)

// The bytes of the facts are on disks: they must not change. docs/format/facts.md describes them.
func TestFactBytes(t *testing.T) {
	env := append(message.AppendEnvelopeHeader(nil, "x", "key", []byte{0x10, 0x00, 0x02}), "body"...)
	facts := map[string][]byte{
		"publish":    appendPublish(nil, []target{{queue: 1, handle: 300}, {queue: 2, handle: queue.MakeHandle(5, 1), expires: 1000}}, 7, env),
		"settle":     appendRange(nil, factSettle, 3, 256, 10),
		"requeue":    appendRange(nil, factRequeue, 3, 1, 1),
		"start":      appendFact(nil, factStart, 0),
		"remember":   appendRemember(nil, &remembered{queue: 300, key: dedup.Key{0: 0xaa, 15: 0xbb}, at: 1000, until: 2000}),
		"reschedule": appendRange(nil, factReschedule, 3, 256, 1000),
		"copy":       appendCopy(nil, []target{{queue: 1, handle: 300}}, 7, env),
		"lease":      appendLease(nil, &leaseRun{queue: 3, handle: 256, n: 2, number: 9, until: 1000}),
		"done":       appendDone(nil, 3, &job.Done{ID: "mid", Until: 1000, Attempts: 2, First: 300}),
		"replace":    appendMessage(nil, factReplace, []target{{queue: 1, handle: 300}}, 7, env),
		"book":       appendBook(nil, 300),
		"recount":    appendRange(nil, factRecount, 3, 256, 5),
	}
	want := map[string]string{
		"publish":    "24" + "01" + "02" + "01ac0200" + "02818080808080808005" + "e807" + "07" + "0178" + "036b6579" + "00000003100002" + "626f6479",
		"settle":     "05" + "02" + "03" + "8002" + "0a",
		"requeue":    "04" + "03" + "03" + "01" + "01",
		"start":      "01" + "04",
		"remember":   "17" + "06" + "ac02" + "aa0000000000000000000000000000bb" + "e807" + "d00f",
		"reschedule": "06" + "07" + "03" + "8002" + "e807",
		"lease":      "08" + "09" + "03" + "8002" + "02" + "09" + "e807",
		"done":       "0a" + "0a" + "03" + "e807" + "02" + "ac02" + "6d6964",
		"replace":    "18" + "0b" + "01" + "01ac0200" + "07" + "0178" + "036b6579" + "00000003100002" + "626f6479",
		"book":       "03" + "0c" + "ac02",
		"recount":    "05" + "0d" + "03" + "8002" + "05",
		"copy":       "18" + "08" + "01" + "01ac0200" + "07" + "0178" + "036b6579" + "00000003100002" + "626f6479",
	}
	for name, fact := range facts {
		if got := hex.EncodeToString(fact); got != want[name] {
			t.Errorf("%s: %s, want %s", name, got, want[name])
		}
	}
	topology := topologyFact{VHost: "/", Binding: &bindingFact{Source: "x", ToQueue: 4, Key: "k"}}
	if got, want := string(topology.append(nil)), "\x3e\x10"+`{"vhost":"/","binding":{"source":"x","to_queue":4,"key":"k"}}`; got != want {
		t.Errorf("topology: %q, want %q", got, want)
	}
}

// FuzzApply feeds damaged facts to the replay: an error or a change, never a panic.
func FuzzApply(f *testing.F) {
	env := append(message.AppendEnvelopeHeader(nil, "", "q", nil), "body"...)
	for _, fact := range [][]byte{
		appendPublish(nil, []target{{queue: 1, handle: 1}}, 0, env),
		appendCopy(nil, []target{{queue: 1, handle: 1}}, 0, env),
		appendRange(nil, factSettle, 1, 1, 1),
		appendRange(nil, factRequeue, 1, 1, 2),
		appendFact(nil, factStart, 0),
		appendRange(nil, factReschedule, 1, 1, 2),
		appendRemember(nil, &remembered{queue: 1, at: 5, until: 9}),
		appendLease(nil, &leaseRun{queue: 1, handle: 1, n: 1, number: 1, until: 9}),
		appendDone(nil, 1, &job.Done{ID: "a", Until: 9}),
		appendMessage(nil, factReplace, []target{{queue: 1, handle: 1}}, 0, env),
		appendBook(nil, 1),
		appendRange(nil, factRecount, 1, 1, 2),
	} {
		f.Add(fact[1:])
	}
	f.Fuzz(func(t *testing.T, fact []byte) {
		m := machine{queues: map[uint64]*queue.State{1: {}}, memories: map[uint64]*dedup.Memory{1: dedup.New(3)}, books: map[uint64]*job.Book{}}
		var p published
		retained := 0
		err := m.apply(1, 0, fact, &p, func(_ uint64, n int) { retained += n })
		if err == nil && len(fact) > 0 && (fact[0] == factPublish || fact[0] == factCopy) {
			var again published
			encoded := appendPublish(nil, p.targets, p.due, p.env)
			if p.copied {
				encoded = appendCopy(nil, p.targets, p.due, p.env)
			}
			if err := decodePublish(mustFact(t, encoded), &again); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(again.targets, p.targets) || again.due != p.due || !bytes.Equal(again.env, p.env) || again.copied != p.copied {
				t.Errorf("%+v encoded and decoded is %+v", p, again)
			}
			if retained < 0 || retained > len(p.targets) {
				t.Errorf("%d references for %d targets", retained, len(p.targets))
			}
		}
	})
}

// mustFact takes the length off an encoded fact.
func mustFact(t *testing.T, b []byte) []byte {
	t.Helper()
	fact, err := nthFact(b, 0)
	if err != nil {
		t.Fatal(err)
	}
	return fact
}
