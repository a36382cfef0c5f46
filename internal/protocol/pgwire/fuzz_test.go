package pgwire

import (
	"bytes"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// encoded returns the encoding of messages.
func encoded(t testing.TB, ms ...pgproto3.FrontendMessage) (b []byte) {
	for _, m := range ms {
		var err error
		if b, err = m.Encode(b); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// finish sends data, closes the write side, and reads to the end. The server may treat the data in
// any way, but must neither panic nor hang.
func finish(t *testing.T, c *client, data []byte) {
	if _, err := c.nc.Write(data); err == nil {
		c.nc.(*net.TCPConn).CloseWrite() //nolint:errcheck // the server may have closed
	}
	c.nc.SetReadDeadline(time.Now().Add(patience)) //nolint:errcheck // a socket of ours
	answer, err := io.ReadAll(c.nc)
	c.nc.Close()
	if ne, ok := err.(net.Error); ok && ne.Timeout() {
		t.Fatal("the server hangs")
	}
	if at := bytes.Index(answer, []byte("internal error")); at >= 0 {
		t.Fatalf("%q", answer[at:])
	}
}

// FuzzConnection sends arbitrary bytes after a login.
func FuzzConnection(f *testing.F) {
	long := encoded(f, &pgproto3.Parse{Name: "s", Query: "rows 3"}, &pgproto3.Describe{ObjectType: 'S', Name: "s"},
		&pgproto3.Bind{PreparedStatement: "s", DestinationPortal: "p", Parameters: [][]byte{nil, []byte("x")}, ParameterFormatCodes: []int16{0, 1}, ResultFormatCodes: []int16{1}},
		&pgproto3.Execute{Portal: "p", MaxRows: 1}, &pgproto3.Close{ObjectType: 'P', Name: "p"}, sync_, &pgproto3.Query{String: "begin; rows 1; fail"},
		&pgproto3.FunctionCall{Function: 3, Arguments: [][]byte{nil}, ArgFormatCodes: []uint16{1}}, &pgproto3.CopyData{Data: []byte("x")}, &pgproto3.Flush{}, terminate)
	f.Add(long)
	for cut := 1; cut < len(long); cut += 7 {
		f.Add(long[cut:])
		damaged := bytes.Clone(long)
		damaged[cut] ^= 0x40
		f.Add(damaged)
	}
	n := startNode(f, Options{MaxMessageSize: 1 << 20})
	f.Fuzz(func(t *testing.T, data []byte) {
		n.t = t
		c := n.login()
		finish(t, c, data)
	})
}

// FuzzStartUp sends arbitrary bytes from the start.
func FuzzStartUp(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x08\x04\xd2\x16\x2f\x00\x00\x00\x13\x00\x03\x00\x00user\x00u\x00\x00p\x00\x00\x00\x20SCRAM-SHA-256\x00\x00\x00\x00\x0an,,n=,r=abc"))
	f.Add([]byte("\x00\x00\x00\x2a\x00\x03\x00\x00user\x00guest\x00options\x00-c a=b\\ c --d-e\x00\x00"))
	f.Add([]byte("\x00\x00\x00\x10\x04\xd2\x16\x2e\x00\x00\x00\x01\x00\x00\x00\x01"))
	n := startNode(f, Options{})
	if _, err := n.b.PutUser(userSpec); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n.t = t
		finish(t, n.dial(), data)
	})
}

// TestNoGoroutineStays checks that connections of many kinds leave no goroutine behind.
func TestNoGoroutineStays(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("connections", func(t *testing.T) {
		n := startNode(t, Options{})
		for i := range 40 {
			c := n.login()
			switch i % 4 {
			case 0:
				c.send(terminate)
			case 1:
				c.nc.Close()
			case 2:
				c.send(&pgproto3.Query{String: "wait"})
				<-n.lastFake().waiting
			}
		}
	})
	for end := time.Now().Add(patience); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// TestDamagedConversations sends truncated, spliced and damaged conversations to real sessions.
func TestDamagedConversations(t *testing.T) {
	n := startRealNode(t, Options{MaxMessageSize: 1 << 20})
	whole := [][]byte{encoded(t, query("select mbus4.create_queue('q', 1); select mbus4.post('q', 'a=>1')"), query("select * from mbus4.consume('q')"),
		parse("", "select mbus4.post($1, $2)"), bindFormats("", []int16{0, 1}, []int16{1}, "q", "\x00\x00\x00\x01\x00\x00\x00\x01a\xff\xff\xff\xff"), execute("", 1), sync_)}
	for _, name := range slices.Sorted(maps.Keys(conversations)) {
		whole = append(whole, encoded(t, conversations[name]...))
	}
	first := n.login()                                    // starts the parser, which is slow under the race detector
	first.nc.SetDeadline(time.Now().Add(2 * time.Minute)) //nolint:errcheck // a socket of ours
	first.query("select 1", `T ?column?:23:0 / D "1" / C SELECT 1 / Z I`)
	rng := rand.New(rand.NewPCG(4, 4))
	for range 1500 {
		b := bytes.Clone(whole[rng.IntN(len(whole))])
		if other := whole[rng.IntN(len(whole))]; rng.IntN(3) == 0 {
			b = append(b[:rng.IntN(len(b))], other[rng.IntN(len(other)):]...)
		}
		for range rng.IntN(4) {
			b[rng.IntN(len(b))] ^= byte(1 << rng.IntN(8))
		}
		if low := bytes.ToLower(b); bytes.Contains(low, []byte("sleep")) || bytes.Contains(low, []byte("series")) {
			continue // these may legitimately take long
		}
		finish(t, n.login(), b)
	}
	if log := n.log.String(); strings.Contains(log, "failed") || strings.Contains(log, "internal error") {
		t.Error(log)
	}
}
