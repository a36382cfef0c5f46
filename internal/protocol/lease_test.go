package protocol

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"testing"
)

// lease is a lease that the test grants.
type lease struct {
	granted chan bool
	asked   chan struct{}
}

func (l *lease) await() bool {
	l.asked <- struct{}{}
	return <-l.granted
}

// leasedPair returns a connection over a socket and its client, with a lease.
func leasedPair(t *testing.T) (server, client net.Conn, l *lease) {
	t.Helper()
	l = &lease{granted: make(chan bool), asked: make(chan struct{})}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	leasing := Lease(l.await).Listen(ln)
	t.Cleanup(func() { leasing.Close() })
	if client, err = net.Dial("tcp", ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	if server, err = leasing.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return server, client, l
}

// writers write in all the ways that sessions do.
var writers = map[string]func(net.Conn, string) error{
	"write": func(nc net.Conn, s string) error {
		_, err := nc.Write([]byte(s))
		return err
	},
	"try": func(nc net.Conn, s string) error {
		var sender Sender
		sender.Init(nc)
		if !sender.Can() {
			return errors.ErrUnsupported
		}
		_, err := sender.Try([]byte(s))
		return err
	},
}

func TestLease(t *testing.T) {
	for name, write := range writers {
		t.Run(name, func(t *testing.T) {
			if name == "try" && !canWriteRaw {
				t.Skip("this system has no such writes")
			}
			nc, client, l := leasedPair(t)
			written := make(chan error, 1)
			begin := func(s string) {
				go func() { written <- write(nc, s) }()
				<-l.asked
			}
			begin("an answer")
			select {
			case err := <-written:
				t.Fatalf("it does not wait for the lease: %v", err)
			default:
			}
			l.granted <- true
			if err := <-written; err != nil {
				t.Fatal(err)
			}
			begin("what another node may know better")
			l.granted <- false
			if err := <-written; !errors.Is(err, net.ErrClosed) {
				t.Errorf("without a lease: %v", err)
			}
			if b, err := io.ReadAll(client); string(b) != "an answer" {
				t.Errorf("the client got %q, %v", b, err)
			}
		})
	}
}

// parting is a session that says goodbye when it is abandoned, if it can.
type parting struct {
	nc    net.Conn
	words string
	begun chan struct{}
	left  chan struct{}
}

func (p *parting) Serve() {
	close(p.begun)
	<-p.left
	if p.words == "goodbye" {
		Farewell(p.nc)
	}
	p.nc.Write([]byte(p.words)) //nolint:errcheck // the client checks it
	p.nc.Close()
}

func (p *parting) Drain() {}
func (p *parting) Kill()  { p.nc.Close() }

func (p *parting) Abandon() { close(p.left) }

// TestFarewell checks that sessions without a lease say goodbye and send nothing else.
func TestFarewell(t *testing.T) {
	for words, want := range map[string]string{"goodbye": "goodbye", "an answer": ""} {
		ended := make(chan struct{})
		pipes := NewPipes(&net.UnixAddr{}, func() net.Addr { return &net.UnixAddr{} })
		begun := make(chan struct{})
		e := NewEdge("test", slog.New(slog.DiscardHandler), func(nc net.Conn, _ uint64) Session {
			return &parting{nc, words, begun, make(chan struct{})}
		})
		served := make(chan error, 1)
		go func() {
			served <- e.Serve(Lease(func() bool { <-ended; return false }).Listen(pipes))
		}()
		nc, err := pipes.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		<-begun
		e.Abandon()
		close(ended)
		if b, err := io.ReadAll(nc); string(b) != want {
			t.Errorf("%s: the client got %q, %v", words, b, err)
		}
		if err := errors.Join(e.Drain(context.Background()), <-served); err != nil {
			t.Error(err)
		}
	}
}
