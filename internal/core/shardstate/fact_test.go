package shardstate

import (
	"bytes"
	"encoding/hex"
	"math"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/core/dedup"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// counted counts references.
type counted map[uint64]int

func (c counted) Retain(index uint64, n int)  { c[index] += n }
func (c counted) Release(index uint64, n int) { c[index] -= n }
func (c counted) Logged(index uint64)         { c[index]-- }
func (c counted) Scratch(uint64)              {}

func body(text string) message.Envelope {
	return append(message.AppendEnvelopeHeader(nil, "x", "key", []byte{0x10, 0x00, 0x02}), text...)
}

// TestFactBytes pins the bytes of facts, which are on disk and must not change.
// docs/format/facts.md describes them.
func TestFactBytes(t *testing.T) {
	env := body("body")
	one := []Target{{Queue: 1, Handle: 300, logged: true}}
	transient := Target{Queue: 9, Handle: 1}
	facts := []struct {
		name  string
		bytes []byte
		want  string
	}{
		{"publish", appendMessage(nil, factPublish, &Message{Due: 7, Env: env, Targets: []Target{
			one[0], transient, {Queue: 2, Handle: queue.MakeHandle(5, 1), Expires: 1000, logged: true}}}, 2),
			"24" + "01" + "02" + "01ac0200" + "02818080808080808005" + "e807" + "07" + "0178" + "036b6579" + "00000003100002" + "626f6479"},
		{"settle", appendSpan(nil, factSettle, 3, 256, 10), "05" + "02" + "03" + "8002" + "0a"},
		{"requeue", appendSpan(nil, factRequeue, 3, 1, 1), "04" + "03" + "03" + "01" + "01"},
		{"start", AppendFact(nil, factStart, 0), "01" + "04"},
		{"retry", appendInts(nil, factRetry, 3, 256, 10, 1000), "07" + "05" + "03" + "8002" + "0a" + "e807"},
		{"remember", appendKey(nil, 300, &Key{Key: dedup.Key{0: 0xaa, 15: 0xbb}, At: 1000, Until: 2000}),
			"17" + "06" + "ac02" + "aa0000000000000000000000000000bb" + "e807" + "d00f"},
		{"reschedule", appendSpan(nil, factReschedule, 3, 256, 1000), "06" + "07" + "03" + "8002" + "e807"},
		{"copy", appendMessage(nil, factCopy, &Message{Targets: one, Due: 7, Env: env}, 1),
			"18" + "08" + "01" + "01ac0200" + "07" + "0178" + "036b6579" + "00000003100002" + "626f6479"},
		{"lease", appendLeases(nil, &leases{queue: 3, handle: 256, n: 2, number: 9, until: 1000}),
			"08" + "09" + "03" + "8002" + "02" + "09" + "e807"},
		{"done", appendDone(nil, 3, &job.Done{ID: "mid", Until: 1000, Attempts: 2, First: 300}),
			"0a" + "0a" + "03" + "e807" + "02" + "ac02" + "6d6964"},
		{"replace", appendMessage(nil, factReplace, &Message{Targets: one, Due: 7, Env: env}, 1),
			"18" + "0b" + "01" + "01ac0200" + "07" + "0178" + "036b6579" + "00000003100002" + "626f6479"},
		{"ledger", appendInts(nil, factLedger, 300), "03" + "0c" + "ac02"},
		{"recount", appendSpan(nil, factRecount, 3, 256, 5), "05" + "0d" + "03" + "8002" + "05"},
	}
	for _, f := range facts {
		if got := hex.EncodeToString(f.bytes); got != f.want {
			t.Errorf("%s: %s, want %s", f.name, got, f.want)
		}
	}
}

// aQueue returns a machine with one queue that uses all features.
func aQueue() (*Machine, *Queue, counted) {
	refs := counted{}
	m := NewMachine(refs)
	q := NewQueue(1, true)
	q.Keys, q.Jobs = dedup.New(3), job.NewLedger()
	m.Add(q)
	return m, q, refs
}

// FuzzApply applies damaged facts. The result must be an error or a change, never a panic.
func FuzzApply(f *testing.F) {
	one := Message{Targets: []Target{{Queue: 1, Handle: 1, logged: true}}, Env: body("body")}
	for _, fact := range [][]byte{
		appendMessage(nil, factPublish, &one, 1),
		appendMessage(nil, factCopy, &one, 1),
		appendMessage(nil, factReplace, &one, 1),
		appendSpan(nil, factSettle, 1, 1, 1),
		appendSpan(nil, factSettle, 1, 1, math.MaxInt64), // must not take longer, either
		appendSpan(nil, factRequeue, 1, 1, 2),
		appendSpan(nil, factRequeue, 1, 1, math.MaxInt64),
		AppendFact(nil, factStart, 0),
		appendSpan(nil, factReschedule, 1, 1, 2),
		appendKey(nil, 1, &Key{At: 5, Until: 9}),
		appendLeases(nil, &leases{queue: 1, handle: 1, n: 1, number: 1, until: 9}),
		appendLeases(nil, &leases{queue: 1, handle: 1, n: math.MaxInt64, number: 1, until: 9}),
		appendDone(nil, 1, &job.Done{ID: "a", Until: 9}),
		appendInts(nil, factLedger, 1),
		appendSpan(nil, factRecount, 1, 1, 2),
		append(AppendFact(nil, factStream, 2), 1, streamMade),
	} {
		f.Add(fact[1:])
	}
	f.Fuzz(func(t *testing.T, fact []byte) {
		m, _, refs := aQueue()
		if m.Apply(1, 0, fact) != nil || fact[0] != factPublish && fact[0] != factCopy {
			return
		}
		var was, again Message
		if err := was.Decode(fact); err != nil {
			t.Fatal(err)
		}
		encoded, err := NthFact(appendMessage(nil, fact[0], &was, len(was.Targets)), 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Decode(encoded); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(again.Targets, was.Targets) || again.Due != was.Due || !bytes.Equal(again.Env, was.Env) || again.Copied != was.Copied {
			t.Errorf("%+v encoded and decoded is %+v", was, again)
		}
		if refs[1] < 0 || refs[1] > len(was.Targets) {
			t.Errorf("%d references for %d targets", refs[1], len(was.Targets))
		}
	})
}
