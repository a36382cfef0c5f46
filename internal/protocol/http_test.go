package protocol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
)

// serveHTTP starts an edge whose sessions are net/http's.
func serveHTTP(t *testing.T, handler http.HandlerFunc) (e *Edge, h *HTTP, addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h = NewHTTP(&http.Server{Handler: handler})
	e = NewEdge("http", slog.New(slog.DiscardHandler), func(nc net.Conn, _ uint64) Session { return h.Session(nc) })
	go e.Serve(ln) //nolint:errcheck // a drain ends it
	return e, h, ln.Addr().String()
}

// TestHTTPDrain checks that a drain closes silent and idle connections at once, and answers a
// request in progress.
func TestHTTPDrain(t *testing.T) {
	began, answer := make(chan struct{}), make(chan struct{})
	e, h, addr := serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(began)
			<-answer
		}
		fmt.Fprint(w, "done")
	})
	get := func(path string) (string, error) {
		r, err := http.Get("http://" + addr + path)
		if err != nil {
			return "", err
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		return string(text), err
	}
	if text, err := get("/"); err != nil || text != "done" { // the client keeps the connection
		t.Fatal(text, err)
	}
	silent, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	answered := make(chan error, 1)
	go func() {
		text, err := get("/slow")
		if err == nil && text != "done" {
			err = errors.New(text)
		}
		answered <- err
	}()
	<-began
	drained := make(chan error, 1)
	go func() { drained <- e.Drain(context.Background()) }()
	if _, err := silent.Read(make([]byte, 1)); err == nil {
		t.Error("the silent connection is served")
	}
	close(answer)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if err := <-drained; err != nil {
		t.Error(err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if e.Connections() != 0 {
		t.Errorf("%d connections left", e.Connections())
	}
}

// TestHTTPClose checks that Close ends requests in progress, works without connections, and lets
// nothing begin afterwards.
func TestHTTPClose(t *testing.T) {
	h := NewHTTP(&http.Server{})
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	ours, theirs := net.Pipe()
	h.Session(ours).Serve()
	if _, err := theirs.Read(make([]byte, 1)); err == nil {
		t.Error("a connection that came too late is open")
	}
}
