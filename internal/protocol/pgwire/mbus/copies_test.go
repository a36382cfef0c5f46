package mbus

import (
	"testing"

	"fiveways.dev/fiveways/internal/broker/enginetest"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// TestCopiesOfOtherProtocols: a message from another protocol passes a trigger unchanged and keeps
// its id, but its copy in a temporary queue blocks no other message.
func TestCopiesOfOtherProtocols(t *testing.T) {
	b := openBroker(t, vfs.NewMem())
	defer enginetest.Close(t, b)
	c := newCaller(t, b, "guest")
	c.call("create_queue", "q", 4)
	c.call("create_queue", "copy", 4)
	c.call("create_trigger", "q", "copy")
	temp := c.text("create_temporary_consumer", "q")
	publish(t, c.s.own, "q", "", "first", message.Properties{Flags: message.HasMessageID, MessageID: "m1"})
	c.call("post", "q", "n=>2", "Redeploy=>true, consume_after=>{m1}")
	c.consumes("q", `"body"=>"first"`)
	c.consumes("copy", `"body"=>"first"`)
	c.consumes("q", `"n"=>"2"`)
	c.consumes(temp, `"body"=>"first"`)
}

// TestTriggersInACircle: triggers that an AMQP client has bound in a cycle copy once to each queue.
func TestTriggersInACircle(t *testing.T) {
	b := openBroker(t, vfs.NewMem())
	defer enginetest.Close(t, b)
	c := newCaller(t, b, "guest")
	c.call("create_queue", "a", 4)
	c.call("create_queue", "b", 4)
	c.call("create_trigger", "a", "b")
	for _, key := range []string{"", "k"} {
		back := catalog.BindSpec{Source: "b", Destination: "a", Key: key, ToExchange: true, Args: message.Table{{Name: triggerArg, Value: true}}}
		if err := c.s.own.Bind(back); err != nil {
			t.Fatal(err)
		}
	}
	c.call("post", "a", "n=>1")
	c.consumes("a", `"n"=>"1"`)
	c.consumes("b", `"n"=>"1"`)
	c.call("post", "b", "n=>2")
	c.consumes("a", `"n"=>"2"`)
	c.consumes("b", `"n"=>"2"`)
}
