package resp

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/resp/resptest"
)

// post publishes a message in the way of another protocol.
func post(t *testing.T, s *broker.Session, exchange, key, body string) {
	t.Helper()
	props := (&message.Properties{}).Append(nil)
	targets, err := s.Route([]byte(exchange), []byte(key), &message.Peek{List: props}, nil)
	if err != nil {
		t.Fatal(err)
	}
	env := append(message.AppendEnvelopeHeader(nil, exchange, key, props), body...)
	s.Publish(&shard.Publish{Targets: targets, Env: env, TTL: -1})
	s.Flush()
}

// TestBridge checks that an exchange and a channel of the same name exchange messages, each exactly
// once.
func TestBridge(t *testing.T) {
	n := startNode(t, Options{})
	s, err := n.Broker.Operate("/")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, kind := range []string{"topic", "direct", "fanout", "headers"} {
		if err := s.DeclareExchange(catalog.ExchangeSpec{Name: kind, Type: kind, Durable: true}); err != nil {
			t.Fatal(err)
		}
	}
	c, p := n.Dial(), n.Dial()
	for i, channel := range []string{"news", "topic", "direct", "fanout", "headers"} {
		c.Wants("SUBSCRIBE "+channel, fmt.Sprintf("[\"subscribe\" %q %d]", channel, i+1))
		post(t, s, channel, channel, "from an exchange")
		if got, want := c.Reply(), fmt.Sprintf("[\"message\" %q \"from an exchange\"]", channel); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if _, err := s.DeclareQueue(catalog.QueueSpec{Name: "q", Durable: true, Policy: catalog.DefaultQueuePolicy()}); err != nil {
		t.Fatal(err)
	}
	if err := s.Bind(catalog.BindSpec{Source: "news", Destination: "q"}); err != nil {
		t.Fatal(err)
	}
	p.Wants("PUBLISH news hello", "2")
	if got := c.Reply(); got != `["message" "news" "hello"]` {
		t.Error(got)
	}
	p.Wants("TEST.POP q", `"hello"`)
	if _, err := s.DeleteQueue("q", false, false); err != nil {
		t.Fatal(err)
	}
	c.Wants("PING", `["pong" ""]`) // nothing arrived twice
	c.Wants("RESET", "+RESET")
	if s.HasExchange("news") || !s.HasExchange("fanout") {
		t.Error("an exchange did not go with its last subscriber, or one went that was there before")
	}
	if all, err := inspect.Queues(s); err != nil || len(all) != 0 {
		t.Errorf("queues are left: %v, %v", all, err)
	}
}

// TestBridgeToNewExchange checks that an exchange that is deleted and declared again is bridged
// from the next subscription on, for all subscribers.
func TestBridgeToNewExchange(t *testing.T) {
	n := startNode(t, Options{})
	s, err := n.Broker.Operate("/")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	first, second := n.Dial(), n.Dial()
	first.Wants("SUBSCRIBE news", `["subscribe" "news" 1]`)
	if err := s.DeleteExchange("news", false); err != nil {
		t.Fatal(err)
	}
	if err := s.DeclareExchange(catalog.ExchangeSpec{Name: "news", Type: "topic", Durable: true}); err != nil {
		t.Fatal(err)
	}
	second.Wants("SUBSCRIBE news", `["subscribe" "news" 1]`)
	post(t, s, "news", "key", "hello")
	for _, c := range []*resptest.Client{first, second} {
		if got := c.Reply(); got != `["message" "news" "hello"]` {
			t.Error(got)
		}
		c.Wants("PING", `["pong" ""]`) // it arrived once
	}
}

// TestBridgeComesAndGoes checks that every publish counts exactly the subscribers that get it,
// while bridges are created and removed.
func TestBridgeComesAndGoes(t *testing.T) {
	n := startNode(t, Options{})
	listener, publisher := n.Dial(), n.Dial()
	var got atomic.Int32
	over := make(chan struct{})
	go func() {
		defer close(over)
		for range 300 {
			for _, command := range []string{"subscribe", "unsubscribe"} {
				io.WriteString(listener.Conn, resptest.Encode(command, "news")) //nolint:errcheck // a read reports the error
				reply, err := listener.Read()
				for ; err == nil && strings.HasPrefix(reply, `["message"`); reply, err = listener.Read() {
					got.Add(1)
				}
				if err != nil || !strings.HasPrefix(reply, fmt.Sprintf("[%q", command)) {
					t.Errorf("%s: %s, %v", command, reply, err)
					return
				}
			}
		}
	}()
	counted := 0
	for {
		select {
		case <-over:
			if counted != int(got.Load()) {
				t.Errorf("%d messages were counted as delivered, %d came", counted, got.Load())
			}
			return
		default:
		}
		reached, err := strconv.Atoi(publisher.Do("PUBLISH", "news", "x"))
		if err != nil {
			t.Fatal(err)
		}
		counted += reached
	}
}

// TestBridgeRights checks that a user without configure permission on an exchange creates none, and
// still gets the messages that this protocol publishes.
func TestBridgeRights(t *testing.T) {
	n := startNode(t, Options{})
	n.user("me", "secret")
	if _, err := n.Broker.SetPermission(catalog.Permission{User: "me", VHost: "/", Write: "^a$", Read: "^a$"}); err != nil {
		t.Fatal(err)
	}
	s, err := n.Broker.Operate("/")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, p := n.Dial(), n.Dial()
	c.Wants("AUTH me secret", "+OK")
	c.Wants("SUBSCRIBE b", "-NOPERM this user has no permissions to access one of the channels used as arguments")
	c.Wants("PUBLISH b x", "-NOPERM this user has no permissions to access one of the channels used as arguments")
	c.Wants("SUBSCRIBE a", `["subscribe" "a" 1]`)
	if s.HasExchange("a") {
		t.Error("there is an exchange")
	}
	c.Wants("PSUBSCRIBE *", `["psubscribe" "*" 2]`)
	p.Wants("PUBLISH b x", "0")
	p.Wants("PUBLISH a x", "2")
	for _, want := range []string{`["message" "a" "x"]`, `["pmessage" "*" "a" "x"]`} {
		if got := c.Reply(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestBridgeTopicRights checks that a user who may bind to a topic exchange only with some keys
// does not get all messages by subscribing to it.
func TestBridgeTopicRights(t *testing.T) {
	n := startNode(t, Options{})
	n.cheapUser("me")
	n.permit("me", "z", ".*")
	if _, err := n.Broker.SetTopicPermission(catalog.TopicPermission{User: "me", VHost: "/", Exchange: "amq.topic", Write: "^public", Read: "^public"}); err != nil {
		t.Fatal(err)
	}
	c := n.Dial()
	c.Wants("AUTH me secret", "+OK")
	c.Wants("SUBSCRIBE amq.topic", "-"+string(errNoPermChannel))
	c.Wants("PUBLISH amq.topic x", "-"+string(errNoPermChannel))
	c.Wants("PSUBSCRIBE amq*", `["psubscribe" "amq*" 1]`)
	n.Dial().Wants("PUBLISH amq.topic x", "0")
	c.Wants("SUBSCRIBE amq.fanout", `["subscribe" "amq.fanout" 2]`)
}
