package resp

import (
	"testing"

	"fiveways.dev/fiveways/internal/protocol/resp/resptest"
)

func TestPubSub(t *testing.T) {
	n := startNode(t, Options{})
	c, p := n.Dial(), n.Dial()
	c.Send(resptest.Encode("SUBSCRIBE", "a", "b", "a"))
	for _, want := range []string{`["subscribe" "a" 1]`, `["subscribe" "b" 2]`, `["subscribe" "a" 2]`} {
		if got := c.Reply(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	c.Wants("PSUBSCRIBE a*", `["psubscribe" "a*" 3]`)
	c.Wants("ECHO x", "-ERR Can't execute 'echo': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context")
	c.Wants("PING", `["pong" ""]`)
	c.Wants("PING x", `["pong" "x"]`)
	p.Wants("PUBLISH a hello", "2")
	for _, want := range []string{`["message" "a" "hello"]`, `["pmessage" "a*" "a" "hello"]`} {
		if got := c.Reply(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	p.Wants("PUBLISH c hello", "0")
	p.Wants("PUBSUB CHANNELS", `["a" "b"]`)
	p.Wants("PUBSUB CHANNELS b*", `["b"]`)
	p.Wants("PUBSUB NUMSUB a c", `["a" 1 "c" 0]`)
	p.Wants("PUBSUB NUMPAT", "1")
	c.Wants("UNSUBSCRIBE a", `["unsubscribe" "a" 2]`)
	c.Wants("UNSUBSCRIBE nothing", `["unsubscribe" "nothing" 2]`)
	c.Wants("UNSUBSCRIBE", `["unsubscribe" "b" 1]`)
	c.Wants("PUNSUBSCRIBE", `["punsubscribe" "a*" 0]`)
	c.Wants("PUNSUBSCRIBE", `["punsubscribe" nil 0]`)
	c.Wants("ECHO x", `"x"`)
	p.Wants("PUBLISH a hello", "0")
	c.Wants("PUBSUB nonsense", "-ERR unknown subcommand 'nonsense'. Try PUBSUB HELP.")
}

func TestPubSubRESP3(t *testing.T) {
	c := startNode(t, Options{}).Dial()
	c.Do("HELLO", "3")
	c.Wants("SUBSCRIBE a", `>["subscribe" "a" 1]`)
	c.Wants("PUBLISH a x", `>["message" "a" "x"]`)
	if got := c.Reply(); got != "1" {
		t.Error(got)
	}
	c.Wants("PING", "+PONG")
	c.Wants("UNSUBSCRIBE", `>["unsubscribe" "a" 0]`)
	c.Wants("UNSUBSCRIBE", `>["unsubscribe" null 0]`)
}

// TestSlowSubscriber checks that a subscriber that does not read is disconnected, and that others
// do not wait for it.
func TestSlowSubscriber(t *testing.T) {
	n := startNode(t, Options{})
	c, p := n.Dial(), n.Dial()
	c.Wants("SUBSCRIBE a", `["subscribe" "a" 1]`)
	body := make([]byte, 1<<20)
	got := "1"
	for range 200 {
		if got = p.Do("PUBLISH", "a", string(body)); got == "0" {
			break
		}
	}
	if got != "0" {
		t.Errorf("the subscriber is still there: %s", got)
	}
}
