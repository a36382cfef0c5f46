package resp

import (
	"testing"
)

func TestPubSub(t *testing.T) {
	n := startNode(t, Options{})
	c, p := n.dial(), n.dial()
	c.send(encode("SUBSCRIBE", "a", "b", "a"))
	for _, want := range []string{`["subscribe" "a" 1]`, `["subscribe" "b" 2]`, `["subscribe" "a" 2]`} {
		if got := c.reply(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	c.wants("PSUBSCRIBE a*", `["psubscribe" "a*" 3]`)
	c.wants("ECHO x", "-ERR Can't execute 'echo': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context")
	c.wants("PING", `["pong" ""]`)
	c.wants("PING x", `["pong" "x"]`)
	p.wants("PUBLISH a hello", "2")
	for _, want := range []string{`["message" "a" "hello"]`, `["pmessage" "a*" "a" "hello"]`} {
		if got := c.reply(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	p.wants("PUBLISH c hello", "0")
	p.wants("PUBSUB CHANNELS", `["a" "b"]`)
	p.wants("PUBSUB CHANNELS b*", `["b"]`)
	p.wants("PUBSUB NUMSUB a c", `["a" 1 "c" 0]`)
	p.wants("PUBSUB NUMPAT", "1")
	c.wants("UNSUBSCRIBE a", `["unsubscribe" "a" 2]`)
	c.wants("UNSUBSCRIBE nothing", `["unsubscribe" "nothing" 2]`)
	c.wants("UNSUBSCRIBE", `["unsubscribe" "b" 1]`)
	c.wants("PUNSUBSCRIBE", `["punsubscribe" "a*" 0]`)
	c.wants("PUNSUBSCRIBE", `["punsubscribe" nil 0]`)
	c.wants("ECHO x", `"x"`)
	p.wants("PUBLISH a hello", "0")
	c.wants("PUBSUB nonsense", "-ERR unknown subcommand 'nonsense'. Try PUBSUB HELP.")
}

func TestPubSubRESP3(t *testing.T) {
	c := startNode(t, Options{}).dial()
	c.do("HELLO", "3")
	c.wants("SUBSCRIBE a", `>["subscribe" "a" 1]`)
	c.wants("PUBLISH a x", `>["message" "a" "x"]`)
	if got := c.reply(); got != "1" {
		t.Error(got)
	}
	c.wants("PING", "+PONG")
	c.wants("UNSUBSCRIBE", `>["unsubscribe" "a" 0]`)
	c.wants("UNSUBSCRIBE", `>["unsubscribe" null 0]`)
}

// TestSlowSubscriber: who does not read is cut off, and nobody waits for it.
func TestSlowSubscriber(t *testing.T) {
	n := startNode(t, Options{})
	c, p := n.dial(), n.dial()
	c.wants("SUBSCRIBE a", `["subscribe" "a" 1]`)
	body := make([]byte, 1<<20)
	got := "1"
	for range 200 {
		if got = p.do("PUBLISH", "a", string(body)); got == "0" {
			break
		}
	}
	if got != "0" {
		t.Errorf("the subscriber is still there: %s", got)
	}
}
