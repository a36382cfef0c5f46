package resp

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"fiveways/internal/broker"
	"fiveways/internal/protocol"
)

// TestPipeline: what comes together is answered in its order, whatever kinds of commands it is.
func TestPipeline(t *testing.T) {
	c := startNode(t, Options{}).dial()
	var sent strings.Builder
	var wants []string
	for i := range 3000 {
		switch i % 5 {
		case 0:
			sent.WriteString(encode("TEST.PUSH", "q", fmt.Sprint(i)))
			wants = append(wants, "1")
		case 1:
			sent.WriteString(encode("ECHO", fmt.Sprint(i)))
			wants = append(wants, fmt.Sprintf("%q", fmt.Sprint(i)))
		case 2:
			sent.WriteString(encode("TEST.POP", "q"))
			wants = append(wants, fmt.Sprintf("%q", fmt.Sprint(i-2)))
		case 3:
			sent.WriteString("nonsense\r\n")
			wants = append(wants, "-ERR unknown command 'nonsense', with args beginning with: ")
		case 4:
			sent.WriteString(encode("CLIENT", "GETNAME"))
			wants = append(wants, "nil")
		}
	}
	go c.nc.Write([]byte(sent.String())) //nolint:errcheck // the replies tell
	for i, want := range wants {
		if got := c.reply(); got != want {
			t.Fatalf("reply %d: %s, want %s", i, got, want)
		}
	}
}

// TestWait: a request that waits is woken by a message, ends after its time, and what was sent behind it comes behind it.
func TestWait(t *testing.T) {
	n := startNode(t, Options{})
	c, other := n.dial(), n.dial()
	id := c.do("CLIENT", "ID")
	c.send(encode("TEST.POP", "q", "0") + encode("ECHO", "behind"))
	n.untilBlocked(other, 1)
	other.wants("TEST.PUSH q hello", "1") // and goes to who waits
	for _, want := range []string{`"hello"`, `"behind"`} {
		if got := c.reply(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	c.wants("TEST.POP q 0.01", "nil")
	c.wants("TEST.POP q -1", "-ERR timeout is negative")
	c.wants("TEST.POP q x", "-ERR timeout is not a float or out of range")
	for mode, want := range map[string]string{"TIMEOUT": "nil", "ERROR": "-UNBLOCKED client unblocked via CLIENT UNBLOCK"} {
		c.send(encode("TEST.POP", "q", "0"))
		n.untilBlocked(other, 1)
		other.wants("CLIENT UNBLOCK "+id+" "+mode, "1")
		if got := c.reply(); got != want {
			t.Errorf("%s: %s", mode, got)
		}
	}
	other.wants("CLIENT UNBLOCK "+id, "0")
}

// TestLeaverIsNoticed: a client that leaves while it waits takes nothing.
func TestLeaverIsNoticed(t *testing.T) {
	n := startNode(t, Options{})
	other := n.dial()
	for i, before := range []string{"", encode("TEST.KICK")} {
		c := n.dial()
		queue := "q" + strconv.Itoa(i)
		c.send(before + encode("TEST.POP", queue, "0"))
		n.untilBlocked(other, 1)
		c.nc.Close()
		n.untilBlocked(other, 0)
		other.wants("TEST.PUSH "+queue+" hello", "1")
	}
}

// untilBlocked waits until so many clients wait for messages.
func (n *node) untilBlocked(c *client, want int) {
	n.t.Helper()
	for range 100_000 {
		if strings.Contains(c.do("INFO", "clients"), fmt.Sprintf("blocked_clients:%d\\r", want)) {
			return
		}
	}
	n.t.Fatalf("there are never %d clients that wait", want)
}

// TestPanic ends one connection, with an answer and a line in the log.
func TestPanic(t *testing.T) {
	n := startNode(t, Options{})
	c, other := n.dial(), n.dial()
	c.send(encode("TEST.PANIC"))
	if got := c.reply(); got != "-ERR internal error" {
		t.Error(got)
	}
	c.ends()
	other.wants("PING", "+PONG")
	if !strings.Contains(n.log.String(), "on purpose") {
		t.Error("nothing is in the log")
	}
}

func TestTooManyClients(t *testing.T) {
	n := startNode(t, Options{Connections: protocol.NewLimit(1)})
	silent := n.dial() // a client that has said nothing takes no place
	first := n.dial()
	first.wants("PING", "+PONG")
	silent.wants("PING", "-ERR max number of clients reached")
	silent.ends()
	first.wants("PING", "+PONG")
}

// TestDrain: who rests and who waits is let go.
func TestDrain(t *testing.T) {
	n := startNode(t, Options{})
	resting, waiting, listening := n.dial(), n.dial(), n.dial()
	waiting.send(encode("TEST.POP", "q", "0"))
	n.untilBlocked(resting, 1)
	listening.wants("SUBSCRIBE a", `["subscribe" "a" 1]`)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := n.srv.Drain(ctx); err != nil {
		t.Error(err)
	}
	for _, c := range []*client{resting, waiting, listening} {
		c.ends()
	}
}

// TestNobodyWaitsAtTheEnd: a connection that is told to end while it is at work does not begin to wait.
func TestNobodyWaitsAtTheEnd(t *testing.T) {
	for name, want := range map[string]string{"TEST.DRAIN": "", "TEST.END": "-ERR enough\r\n"} {
		c := startNode(t, Options{}).dial()
		c.send(encode(name) + encode("TEST.POP", "q", "0"))
		if got, err := io.ReadAll(c.r); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestHTTPIsCutOff: a page in a browser on this machine cannot have it send commands here.
func TestHTTPIsCutOff(t *testing.T) {
	n := startNode(t, Options{})
	for request, want := range map[string]string{
		"POST / HTTP/1.1\r\nHost: x\r\n\r\nLPUSH q x\r\n": "",
		"GET / HTTP/1.1\r\nHost: x\r\n\r\nLPUSH q x\r\n":  "-ERR unknown command 'GET', with args beginning with: '/' 'HTTP/1.1' " + elsewhere([]byte("get")) + "\r\n",
	} {
		c := n.dial()
		c.send(request)
		if got, err := io.ReadAll(c.r); err != nil || string(got) != want {
			t.Errorf("%.4s: %q, %v", request, got, err)
		}
	}
	n.dial().wants("LLEN q", "0")
}

// TestProtocolErrors: they are told, and end the connection.
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
		c := n.dial()
		c.send(encode("PING") + sent)
		for _, want := range []string{"+PONG", "-ERR Protocol error: " + want} {
			if got := c.reply(); got != want {
				t.Errorf("%.20q: %s, want %s", sent, got, want)
			}
		}
		c.ends()
	}
}

// TestDeafClient: who does not read its replies is not read from, and what it has sent does not pile up here.
func TestDeafClient(t *testing.T) {
	n := startNode(t, Options{})
	c := n.dial()
	body := encode("ECHO", strings.Repeat("x", 1<<20))
	sent := 0
	c.nc.SetWriteDeadline(time.Now().Add(time.Second)) //nolint:errcheck // the loop ends by it
	for ; sent < 1000; sent++ {
		if _, err := c.nc.Write([]byte(body)); err != nil {
			break
		}
	}
	if sent == 1000 {
		t.Error("a gigabyte was taken in")
	}
	n.dial().wants("PING", "+PONG")
}

// TestAlarm: while memory or disk is short nothing is added, and all else goes on.
func TestAlarm(t *testing.T) {
	for want, engine := range map[string]broker.Options{
		string(errDiskFull): {DiskFreeLimit: 1 << 62},
		string(errOOM):      {DiskFreeLimit: -1, MemoryLimit: 1},
	} {
		n := startNodeOn(t, Options{}, engine)
		c := n.dial()
		c.wants("MULTI", "+OK")
		c.wants("TEST.PUSH q x", "+QUEUED")
		other := n.dial()
		for deadline := time.Now().Add(patience); n.b.Alarm() == nil && time.Now().Before(deadline); {
			other.do("TEST.PUSH", "q", "x")
		}
		other.wants("TEST.PUSH q x", "-"+want)
		c.wants("EXEC", "-EXECABORT Transaction discarded because of: "+want)
		other.wants("PING", "+PONG")
		other.wants("TEST.POP nothing", "nil")
	}
}
