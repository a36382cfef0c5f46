package broker

import (
	"fmt"
	"io"
	"log/slog"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// BenchmarkTopicRoute routes through 100,000 bindings, with too many keys for the session's cache.
func BenchmarkTopicRoute(b *testing.B) {
	br, err := Open(vfs.NewMem(), "data", Options{DiskFreeLimit: -1, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	defer br.Close()
	s, _ := br.NewSession(SessionOptions{User: "guest", VHost: "/", Sink: &counting{}})
	for i := range 100 {
		if _, err := s.DeclareQueue(QueueSpec{Name: fmt.Sprint("q", i), Policy: DefaultQueuePolicy()}); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 100_000 {
		if err := s.Bind(BindSpec{Source: "amq.topic", Destination: fmt.Sprint("q", i%100), Key: fmt.Sprintf("site%d.device%d.*", i%300, i)}); err != nil {
			b.Fatal(err)
		}
	}
	keys := make([][]byte, 10_000)
	for i := range keys {
		n := i * 9 // spread over the bindings
		keys[i] = fmt.Appendf(nil, "site%d.device%d.temp", n%300, n)
	}
	var peek message.Peek
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		t, err := s.Route([]byte("amq.topic"), keys[i%len(keys)], &peek, nil)
		if err != nil || t.Parts() != 1 {
			b.Fatal(t, err)
		}
	}
}
