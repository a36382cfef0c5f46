package amqp

import (
	"bytes"
	"io"
	"net"
	"testing"

	"fiveways.dev/fiveways/internal/protocol"
)

// TestSendLeavesTheRestToTheWriter checks that Send writes what the socket accepts at once, and
// that the writer continues with the rest. Later frames keep their order.
func TestSendLeavesTheRestToTheWriter(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	peer, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	nc, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c := &conn{nc: nc, client: &protocol.Client{}}
	c.Begin(nc, 1)
	c.out.init(nc)
	c.out.sent = &c.client.Out
	var want []byte
	one := bytes.Repeat([]byte("0123456789abcdef"), sendAtOnce/32)
	for c.out.left.buf == nil { // fill the socket, which is not read
		one[0]++
		want = append(want, one...)
		c.out.add(func(dst []byte) []byte { return append(dst, one...) })
		c.Send()
	}
	want = append(want, "behind it"...)
	c.out.add(func(dst []byte) []byte { return append(dst, "behind it"...) })
	c.Send()
	go c.writeLoop()
	c.out.end()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(peer, got); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%d bytes arrived otherwise: %v", len(got), err)
	}
	<-c.out.done
	if n := c.out.size.Load(); n != 0 || c.client.Out.Load() != uint64(len(want)) {
		t.Errorf("%d bytes are said to wait, and %d to be written of %d", n, c.client.Out.Load(), len(want))
	}
}
