package shardstate

import (
	"testing"

	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/storage/wal"
)

// uncounted ignores references.
type uncounted struct{}

func (uncounted) Retain(uint64, int)  {}
func (uncounted) Release(uint64, int) {}

// BenchmarkApply replays the facts of messages that are published and settled, as a start does, and
// encodes them.
func BenchmarkApply(b *testing.B) {
	const messages = 10_000
	m := Message{Targets: []Target{{Queue: 1, logged: true}}, Env: body(string(make([]byte, 100)))}
	for name, appendOne := range map[string]func(dst []byte, h queue.Handle) []byte{
		"publish": func(dst []byte, h queue.Handle) []byte {
			m.Targets[0].Handle = h
			return appendMessage(dst, factPublish, &m, 1)
		},
		"settle": func(dst []byte, h queue.Handle) []byte { return appendSpan(dst, factSettle, 1, h, 1) },
		"lease": func(dst []byte, h queue.Handle) []byte {
			return appendLeases(dst, &leases{queue: 1, handle: h, n: 1, number: uint64(h), until: 1 << 40})
		},
	} {
		b.Run(name, func(b *testing.B) {
			var facts []byte
			for h := range queue.Handle(messages) {
				facts = appendOne(facts, h+1)
			}
			for b.Loop() {
				m := NewMachine(uncounted{})
				m.Add(NewQueue(1, true))
				walk := wal.NewFacts(wal.KindFacts, facts)
				for sub, fact, ok := walk.Next(); ok; sub, fact, ok = walk.Next() {
					if err := m.Apply(1, sub, fact); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*messages), "ns/fact")
		})
		b.Run(name+"/encode", func(b *testing.B) {
			dst := make([]byte, 0, 1<<10)
			b.ReportAllocs()
			for b.Loop() {
				dst = appendOne(dst[:0], 1<<20)
			}
		})
	}
}
