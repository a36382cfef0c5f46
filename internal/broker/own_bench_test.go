package broker

import (
	"io"
	"log/slog"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// told is a confirmer that sends the outcomes it receives.
type told chan bool

func (c told) Confirmed(_, _ uint64, ok bool) { c <- ok }

// BenchmarkLoneProducer measures messages published one by one, each after the confirm of the
// previous one.
func BenchmarkLoneProducer(b *testing.B) {
	for _, mode := range []struct {
		name string
		sync store.SyncMode
		own  bool
	}{{"always", store.SyncAlways, false}, {"always own", store.SyncAlways, true}, {"os", store.SyncOS, false}, {"os own", store.SyncOS, true}} {
		b.Run(mode.name, func(b *testing.B) {
			br, err := Open(vfs.OS{}, b.TempDir(), Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Sync: mode.sync})
			if err != nil {
				b.Fatal(err)
			}
			defer br.Close()
			s, _ := br.NewSession(SessionOptions{User: "guest", VHost: "/"})
			if _, err := s.DeclareQueue(QueueSpec{Name: "q", Durable: true, Policy: DefaultQueuePolicy()}); err != nil {
				b.Fatal(err)
			}
			confirmed := make(told, 1)
			peek := message.Peek{}
			for b.Loop() {
				t, _ := s.Route(nil, []byte("q"), &peek, nil)
				env := append(message.AppendEnvelopeHeader(make([]byte, 0, 200), "", "q", bareProps), make([]byte, 100)...)
				s.Publish(&shard.Publish{Targets: t, Env: env, Persistent: true, TTL: -1, Confirm: confirmed, Seq: 1})
				if mode.own {
					s.FlushInline()
				} else {
					s.Flush()
				}
				if !<-confirmed {
					b.Fatal("refused")
				}
			}
		})
	}
}

// BenchmarkRecord measures entries of a machine recorded one by one.
func BenchmarkRecord(b *testing.B) {
	for _, mode := range []struct {
		name  string
		sync  store.SyncMode
		async bool
	}{{"always", store.SyncAlways, false}, {"always async", store.SyncAlways, true}, {"os", store.SyncOS, false}, {"os async", store.SyncOS, true}} {
		b.Run(mode.name, func(b *testing.B) {
			o := Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Sync: mode.sync, StateMachines: map[uint32]statemachine.Machine{statemachine.Keys: &nothing{}}}
			br, err := Open(vfs.OS{}, b.TempDir(), o)
			if err != nil {
				b.Fatal(err)
			}
			defer br.Close()
			entry := make([]byte, 200)
			done := make(chan error, 1)
			b.ReportAllocs()
			for b.Loop() {
				if !mode.async {
					_, err = br.StateMachine(statemachine.Keys).Record(entry)
				} else {
					br.StateMachine(statemachine.Keys).RecordAll([][]byte{entry}, false, func(_ int, _ uint64, err error) { done <- err })
					err = <-done
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// nothing is a state machine without state.
type nothing struct{}

func (*nothing) Apply(uint64, []byte) {}
func (*nothing) Freeze() (int64, func(io.Writer) error) {
	return 0, func(io.Writer) error { return nil }
}
func (*nothing) Restore(io.Reader) error { return nil }
