package resp

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/resptest"
)

// TestPipeline checks that pipelined commands of all kinds are answered in their order.
func TestPipeline(t *testing.T) {
	c := startNode(t, Options{}).Dial()
	var sent strings.Builder
	var wants []string
	for i := range 3000 {
		switch i % 5 {
		case 0:
			sent.WriteString(resptest.Encode("TEST.PUSH", "q", fmt.Sprint(i)))
			wants = append(wants, "1")
		case 1:
			sent.WriteString(resptest.Encode("ECHO", fmt.Sprint(i)))
			wants = append(wants, fmt.Sprintf("%q", fmt.Sprint(i)))
		case 2:
			sent.WriteString(resptest.Encode("TEST.POP", "q"))
			wants = append(wants, fmt.Sprintf("%q", fmt.Sprint(i-2)))
		case 3:
			sent.WriteString("nonsense\r\n")
			wants = append(wants, "-ERR unknown command 'nonsense', with args beginning with: ")
		case 4:
			sent.WriteString(resptest.Encode("CLIENT", "GETNAME"))
			wants = append(wants, "nil")
		}
	}
	go c.Conn.Write([]byte(sent.String())) //nolint:errcheck // the replies show a failure
	for i, want := range wants {
		if got := c.Reply(); got != want {
			t.Fatalf("reply %d: %s, want %s", i, got, want)
		}
	}
}

// TestWait checks that a waiting request is woken by a message, times out, and that later requests
// are answered after it.
func TestWait(t *testing.T) {
	n := startNode(t, Options{})
	c, other := n.Dial(), n.Dial()
	id := c.Do("CLIENT", "ID")
	c.Send(resptest.Encode("TEST.POP", "q", "0") + resptest.Encode("ECHO", "behind"))
	n.UntilBlocked(other, 1)
	other.Wants("TEST.PUSH q hello", "1") // goes to the waiting client
	for _, want := range []string{`"hello"`, `"behind"`} {
		if got := c.Reply(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	c.Wants("TEST.POP q 0.01", "nil")
	c.Wants("TEST.POP q -1", "-ERR timeout is negative")
	c.Wants("TEST.POP q x", "-ERR timeout is not a float or out of range")
	for mode, want := range map[string]string{"TIMEOUT": "nil", "ERROR": "-UNBLOCKED client unblocked via CLIENT UNBLOCK"} {
		c.Send(resptest.Encode("TEST.POP", "q", "0"))
		n.UntilBlocked(other, 1)
		other.Wants("CLIENT UNBLOCK "+id+" "+mode, "1")
		if got := c.Reply(); got != want {
			t.Errorf("%s: %s", mode, got)
		}
	}
	other.Wants("CLIENT UNBLOCK "+id, "0")
}

// TestLeaverIsNoticed checks that a client that disconnects while it waits takes nothing.
func TestLeaverIsNoticed(t *testing.T) {
	n := startNode(t, Options{})
	other := n.Dial()
	for i, before := range []string{"", resptest.Encode("TEST.KICK")} {
		c := n.Dial()
		queue := "q" + strconv.Itoa(i)
		c.Send(before + resptest.Encode("TEST.POP", queue, "0"))
		n.UntilBlocked(other, 1)
		c.Conn.Close()
		n.UntilBlocked(other, 0)
		other.Wants("TEST.PUSH "+queue+" hello", "1")
	}
}

// TestLeaverIsNoticedBehindMuch is like TestLeaverIsNoticed, with more requests behind the waiting
// one than the connection reads ahead.
func TestLeaverIsNoticedBehindMuch(t *testing.T) {
	n := startNode(t, Options{})
	c, other := n.Dial(), n.Dial()
	c.Send(resptest.Encode("TEST.POP", "q", "0"))
	n.UntilBlocked(other, 1)
	c.Send(resptest.Encode("ECHO", strings.Repeat("x", 2*mostAhead)))
	c.Conn.Close()
	n.UntilBlocked(other, 0)
	other.Wants("TEST.PUSH q hello", "1")
	other.Wants("TEST.POP q", `"hello"`)
}

// TestWaiterReadsOn checks that a client with more requests behind a waiting one than the
// connection reads ahead gets all its replies.
func TestWaiterReadsOn(t *testing.T) {
	n := startNode(t, Options{})
	c, other := n.Dial(), n.Dial()
	body := strings.Repeat("x", 2*mostAhead)
	for range 3 {
		c.Send(resptest.Encode("TEST.POP", "q", "0"))
		n.UntilBlocked(other, 1)
		c.Send(resptest.Encode("ECHO", body))
		other.Wants("TEST.PUSH q hello", "1")
		for _, want := range []string{"hello", body} {
			if got := c.Reply(); got != strconv.Quote(want) {
				t.Errorf("%.20s, want %.20s", got, want)
			}
		}
	}
}

// TestLargePipeline checks that the results of pipelined reads are not held all at once.
func TestLargePipeline(t *testing.T) {
	n := startNodeOn(t, Options{}, broker.Options{DiskFreeLimit: -1, MemoryLimit: 4 << 20})
	c := n.Dial()
	body := strings.Repeat("x", 500<<10)
	for range 8 {
		c.Do("XADD", "s", "*", "field", body)
	}
	before := heap()
	c.Send(strings.Repeat(resptest.Encode("XREAD", "STREAMS", "s", "0"), 64))
	if _, err := io.CopyN(io.Discard, c.R, 1000); err != nil {
		t.Fatal(err)
	}
	if more := heap() - before; more > 32<<20 {
		t.Errorf("%d MiB wait for the client", more>>20)
	}
}

// TestPanic checks that a panic ends only its own connection, with an answer and a log line.
func TestPanic(t *testing.T) {
	n := startNode(t, Options{})
	c, other := n.Dial(), n.Dial()
	c.Send(resptest.Encode("TEST.PANIC"))
	if got := c.Reply(); got != "-ERR internal error" {
		t.Error(got)
	}
	c.Ends()
	other.Wants("PING", "+PONG")
	if !strings.Contains(n.Log.String(), "on purpose") {
		t.Error("nothing is in the log")
	}
}

func TestTooManyClients(t *testing.T) {
	n := startNode(t, Options{Shared: protocol.Shared{Connections: protocol.NewLimit(1)}})
	silent := n.Dial() // a client that has sent nothing takes no slot
	first := n.Dial()
	first.Wants("PING", "+PONG")
	silent.Wants("PING", "-ERR max number of clients reached")
	silent.Ends()
	first.Wants("PING", "+PONG")
}

// TestDrain checks that Drain closes idle and waiting connections.
func TestDrain(t *testing.T) {
	n := startNode(t, Options{})
	resting, waiting, listening := n.Dial(), n.Dial(), n.Dial()
	waiting.Send(resptest.Encode("TEST.POP", "q", "0"))
	n.UntilBlocked(resting, 1)
	listening.Wants("SUBSCRIBE a", `["subscribe" "a" 1]`)
	ctx, cancel := context.WithTimeout(t.Context(), resptest.Patience)
	defer cancel()
	if err := n.srv.Drain(ctx); err != nil {
		t.Error(err)
	}
	for _, c := range []*resptest.Client{resting, waiting, listening} {
		c.Ends()
	}
}

// TestNobodyWaitsAtTheEnd checks that a connection that is told to end while it executes a command
// does not start to wait.
func TestNobodyWaitsAtTheEnd(t *testing.T) {
	for name, want := range map[string]string{"TEST.DRAIN": "", "TEST.END": "-ERR enough\r\n"} {
		c := startNode(t, Options{}).Dial()
		c.Send(resptest.Encode(name) + resptest.Encode("TEST.POP", "q", "0"))
		if got, err := io.ReadAll(c.R); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestHTTPIsCutOff checks that a web page in a browser on this machine cannot make it send
// commands.
func TestHTTPIsCutOff(t *testing.T) {
	n := startNode(t, Options{})
	for request, want := range map[string]string{
		"POST / HTTP/1.1\r\nHost: x\r\n\r\nLPUSH q x\r\n": "",
		"GET / HTTP/1.1\r\nHost: x\r\n\r\nLPUSH q x\r\n":  "-ERR unknown command 'GET', with args beginning with: '/' 'HTTP/1.1' " + elsewhere([]byte("get")) + "\r\n",
	} {
		c := n.Dial()
		c.Send(request)
		if got, err := io.ReadAll(c.R); err != nil || string(got) != want {
			t.Errorf("%.4s: %q, %v", request, got, err)
		}
	}
	n.Dial().Wants("LLEN q", "0")
}

// TestProtocolErrors checks that protocol errors are reported and close the connection.
func TestProtocolErrors(t *testing.T) {
	n := startNode(t, Options{MaxMessageSize: 1000})
	for sent, want := range map[string]string{
		"*1\r\nx\r\n":               "expected '$', got 'x'",
		"*x\r\n":                    "invalid multibulk length",
		"*1048577\r\n":              "invalid multibulk length",
		"*1\r\n$-1\r\n":             "invalid bulk length",
		"*1\r\n$66537\r\n":          "invalid bulk length",
		"\"a\r\n":                   "unbalanced quotes in request",
		strings.Repeat("a", 70_000): "too big inline request",
	} {
		c := n.Dial()
		c.Send(resptest.Encode("PING") + sent)
		for _, want := range []string{"+PONG", "-ERR Protocol error: " + want} {
			if got := c.Reply(); got != want {
				t.Errorf("%.20q: %s, want %s", sent, got, want)
			}
		}
		c.Ends()
	}
}

// TestDeafClient checks that the broker applies backpressure: it stops reading from a client that
// does not read its replies.
func TestDeafClient(t *testing.T) {
	n := startNode(t, Options{})
	c := n.Dial()
	body := resptest.Encode("ECHO", strings.Repeat("x", 1<<20))
	sent := 0
	c.Conn.SetWriteDeadline(time.Now().Add(time.Second)) //nolint:errcheck // the deadline ends the loop
	for ; sent < 1000; sent++ {
		if _, err := c.Conn.Write([]byte(body)); err != nil {
			break
		}
	}
	if sent == 1000 {
		t.Error("a gigabyte was taken in")
	}
	n.Dial().Wants("PING", "+PONG")
}

// TestAlarm checks that nothing is added during a memory or disk alarm, and that other commands
// work.
func TestAlarm(t *testing.T) {
	for want, engine := range map[string]broker.Options{
		string(command.ErrDiskFull): {DiskFreeLimit: 1 << 62},
		string(command.ErrOOM):      {DiskFreeLimit: -1, MemoryLimit: 1},
	} {
		n := startNodeOn(t, Options{}, engine)
		c := n.Dial()
		c.Wants("MULTI", "+OK")
		c.Wants("TEST.PUSH q x", "+QUEUED")
		other := n.Dial()
		for deadline := time.Now().Add(resptest.Patience); n.Broker.Alarm() == nil && time.Now().Before(deadline); {
			other.Do("TEST.PUSH", "q", "x")
		}
		other.Wants("TEST.PUSH q x", "-"+want)
		c.Wants("EXEC", "-EXECABORT Transaction discarded because of: "+want)
		other.Wants("PING", "+PONG")
		other.Wants("TEST.POP nothing", "nil")
	}
}
