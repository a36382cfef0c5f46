package protocol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// echo is a session that answers every byte until it is drained or killed.
type echo struct {
	nc     net.Conn
	drain  bool // Drain ends it; otherwise only Kill does
	closed sync.Once
}

func (s *echo) Serve() { io.Copy(s.nc, s.nc); s.Kill() } //nolint:errcheck // ends with the socket
func (s *echo) Kill()  { s.closed.Do(func() { s.nc.Close() }) }
func (s *echo) Drain() {
	if s.drain {
		s.Kill()
	}
}

// serve starts an edge of echo sessions and returns it with its address.
func serve(t *testing.T, drains bool) (*Edge, string, chan error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	e := NewEdge("echo", log, func(nc net.Conn, _ uint64) Session { return &echo{nc: nc, drain: drains} })
	served := make(chan error, 1)
	go func() { served <- e.Serve(ln) }()
	return e, ln.Addr().String(), served
}

// talk opens a connection and waits until it is served.
func talk(t *testing.T, addr string) net.Conn {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	got := make([]byte, 1)
	if _, err := nc.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(nc, got); err != nil {
		t.Fatal(err)
	}
	return nc
}

func TestDrainPolite(t *testing.T) {
	e, addr, served := serve(t, true)
	nc := talk(t, addr)
	talk(t, addr)
	if e.Connections() != 2 || e.ConnectionsOpened() != 2 {
		t.Errorf("open %d, opened %d, want 2, 2", e.Connections(), e.ConnectionsOpened())
	}
	for range 2 { // the second has nothing to do
		if err := e.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if e.Connections() != 0 {
		t.Errorf("%d sessions left", e.Connections())
	}
	if _, err := nc.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open")
	}
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("the listener is open")
	}
}

func TestDrainByForce(t *testing.T) {
	e, addr, _ := serve(t, false)
	talk(t, addr)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Drain(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	if e.Connections() != 0 {
		t.Errorf("%d sessions left", e.Connections())
	}
}

func TestServeAfterDrain(t *testing.T) {
	e := NewEdge("echo", slog.Default(), func(nc net.Conn, _ uint64) Session { return &echo{nc: nc} })
	if err := e.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Serve(ln); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener is open: %v", err)
	}
}

func TestLimit(t *testing.T) {
	l := NewLimit(2)
	for place := range 2 {
		if !l.Acquire() {
			t.Fatalf("a limit of two gives only %d places", place)
		}
	}
	if l.Acquire() {
		t.Fatal("a limit of two gives a third place")
	}
	l.Release()
	if !l.Acquire() {
		t.Error("a place that was given back cannot be taken")
	}
	var none *Limit
	if !none.Acquire() || !NewLimit(0).Acquire() || none.Max() != 0 {
		t.Error("no limit is a limit")
	}
}

// polite is an echo that says goodbye when it is abandoned.
type polite struct {
	echo
	closes bool // and then closes the connection
}

func (s *polite) Abandon() {
	s.nc.Write([]byte("bye")) //nolint:errcheck // the client sees it
	if s.closes {
		s.Kill()
	}
}

// TestAbandon checks that a session that tells its client something when it is abandoned has a
// second for it, and that other sessions and later connections are cut.
func TestAbandon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var next Session
		e := NewEdge("echo", slog.New(slog.DiscardHandler), func(nc net.Conn, _ uint64) Session {
			switch s := next.(type) {
			case *echo:
				s.nc = nc
			case *polite:
				s.nc = nc
			}
			return next
		})
		begun := time.Now()
		open := func(s Session) (ended chan string) {
			next, ended = s, make(chan string, 1)
			ours, theirs := net.Pipe()
			e.start(theirs)
			go func() {
				said, err := io.ReadAll(ours)
				ended <- fmt.Sprintf("%q, %v, %v", said, err, time.Since(begun))
			}()
			return ended
		}
		silent, quick, slow := open(&echo{}), open(&polite{closes: true}), open(&polite{})
		e.Abandon()
		e.Abandon() // without effect
		late := open(nil)
		for _, c := range []struct {
			ended chan string
			want  string
		}{{silent, `"", <nil>, 0s`}, {quick, `"bye", <nil>, 0s`}, {late, `"", <nil>, 0s`}, {slow, `"bye", <nil>, 1s`}} {
			if got := <-c.ended; got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		}
		if err := e.Drain(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
