package broker

import (
	"io"
	"log/slog"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// BenchmarkPublishPermission measures the cost of the permission check per publish, for a user who
// may write everywhere and for one with a pattern. It includes routing from the cache.
func BenchmarkPublishPermission(b *testing.B) {
	br, err := Open(vfs.NewMem(), "data", Options{DiskFreeLimit: -1, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	defer br.Close()
	exchange, key := []byte("amq.direct"), []byte("key")
	var peek message.Peek
	for _, pattern := range []string{".*", "^amq\\.d"} {
		if _, err := br.SetPermission(Permission{User: "guest", VHost: "/", Configure: ".*", Write: pattern, Read: ".*"}); err != nil {
			b.Fatal(err)
		}
		s, err := br.NewSession(SessionOptions{User: "guest", VHost: "/", Sink: &counting{}})
		if err != nil {
			b.Fatal(err)
		}
		b.Run("asked "+pattern, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := s.MayPublish(exchange); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("routed "+pattern, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Route(exchange, key, &peek, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
