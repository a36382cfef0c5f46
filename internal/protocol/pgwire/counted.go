package pgwire

import (
	"io"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/core/message"
)

// countedReader counts the bytes that are read.
type countedReader struct {
	io.Reader
	n *atomic.Uint64
}

func (r *countedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n.Add(uint64(n))
	return n, err
}

// countedWriter counts the bytes that are written.
type countedWriter struct {
	io.Writer
	n *atomic.Uint64
}

func (w *countedWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.n.Add(uint64(n))
	return n, err
}

// properties returns what the client reports about itself, to be shown to operators.
func (s *start) properties() (t message.Table) {
	for _, r := range s.settings {
		if r.name == "application_name" || r.name == "client_encoding" {
			t = append(t, message.Field{Name: r.name, Value: r.value})
		}
	}
	return t
}
