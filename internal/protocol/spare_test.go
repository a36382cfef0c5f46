package protocol

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"testing"
	"testing/synctest"
)

// A connection whose descriptor is one of those for the log is closed at once, and Accept reports a
// temporary error.
func TestSpareFiles(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	l := SpareFiles(ln, 2).(*sparing)
	if most := openFiles(); l.end >= most || l.end < most/2 || SpareFiles(ln, 1).(*sparing).end <= l.end {
		t.Errorf("connections have the descriptors below %d of %d", l.end, most)
	}
	dial := func() net.Conn {
		nc, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nc.Close() })
		return nc
	}
	dial()
	nc, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := nc.(*net.TCPConn); !ok {
		t.Errorf("the connection is a %T", nc)
	}
	nc.Close()
	l.end = 0
	client := dial()
	if nc, err = l.Accept(); nc != nil || !isTemporary(err) || errors.Is(err, net.ErrClosed) {
		t.Errorf("none left: %v, %v", nc, err)
	}
	if n, err := client.Read(make([]byte, 1)); err == nil {
		t.Errorf("the client has read %d bytes of a connection that was not kept", n)
	}
}

// failing is a listener with these results of Accept.
type failing struct {
	net.Listener
	results []error
}

func (l *failing) Accept() (net.Conn, error) {
	err := l.results[0]
	l.results = l.results[1:]
	return nil, err
}

// A patient listener hides errors that pass, and only those.
func TestPatient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		passing := &net.OpError{Op: "accept", Err: errSpared{}}
		l := Patient("cluster", &failing{results: []error{passing, passing, nil, passing, net.ErrClosed, os.ErrInvalid}}, slog.New(slog.DiscardHandler))
		for i, want := range []error{nil, net.ErrClosed, os.ErrInvalid} {
			if _, err := l.Accept(); !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("accept %d: %v, want %v", i, err, want)
			}
		}
	})
}
