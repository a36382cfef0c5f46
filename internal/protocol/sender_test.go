package protocol

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

// connected returns the two ends of a TCP connection.
func connected(t *testing.T) (a, b net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	a, err = net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err = ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		a.Close()
		b.Close()
	})
	return a, b
}

// TestSender gives a socket more than it accepts, without waiting.
func TestSender(t *testing.T) {
	a, b := connected(t)
	var s Sender
	s.Init(a)
	if !s.Can() {
		t.Skip("this system cannot write without waiting")
	}
	all := bytes.Repeat([]byte("0123456789"), 10<<20/10)
	sent := 0
	for {
		n, err := s.Try(all[sent:])
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break // the socket is full: Try has not waited
		}
		sent += n
	}
	if sent == 0 || sent == len(all) {
		t.Fatalf("%d bytes of %d taken", sent, len(all))
	}
	a.(*net.TCPConn).CloseWrite() //nolint:errcheck // the read fails as well
	got, err := io.ReadAll(b)
	if err != nil || !bytes.Equal(got, all[:sent]) {
		t.Errorf("%d bytes came, %v", len(got), err)
	}
	if _, err := s.Try(all); err == nil {
		t.Error("a closed socket took something")
	}
}

// TestSenderAfterDeadline checks that Try writes nothing and returns no error after a deadline for
// other writes.
func TestSenderAfterDeadline(t *testing.T) {
	a, _ := connected(t)
	var s Sender
	s.Init(a)
	if !s.Can() {
		t.Skip("this system cannot write without waiting")
	}
	a.SetWriteDeadline(time.Unix(1, 0)) //nolint:errcheck // Try shows it
	if n, err := s.Try([]byte("x")); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	a.SetWriteDeadline(time.Time{}) //nolint:errcheck // Try shows it
	if n, err := s.Try([]byte("x")); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// TestUnread puts back what was read before the input began.
func TestUnread(t *testing.T) {
	a, b := connected(t)
	var in Input
	in.Init(b)
	in.Unread([]byte("before "))
	if got := string(in.Pending()); got != "before " {
		t.Fatalf("pending %q", got)
	}
	if _, err := a.Write([]byte("after")); err != nil {
		t.Fatal(err)
	}
	for len(in.Pending()) < len("before after") {
		if err := in.Fill(0); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(in.Pending()); got != "before after" {
		t.Errorf("pending %q", got)
	}
}
