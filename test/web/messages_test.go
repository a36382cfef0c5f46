package web

import "testing"

// TestPublishBrowseTake does what a newcomer does: it creates a queue, publishes a message, takes
// and acknowledges it.
func TestPublishBrowseTake(t *testing.T) {
	p := open(t)
	p.login()
	newQueue(p, "orders")
	p.fill("Publish", "Message", `{"order": 12345678901234567890, "note": "<b>bold</b>"}`)
	p.press("Publish", "Publish")
	p.reads("Published: it is in a queue.")

	p.show("#/queues/%2F/orders?tab=messages")
	p.sees(`document.querySelector("details.message summary") !== null`)
	p.do(evaluate(`document.querySelector("details.message summary").click()`))
	p.readsIn("pre", `"order": 12345678901234567890,`) // no digit is lost
	p.readsIn("pre", `<b>bold</b>`)
	p.shot("message")

	p.show("#/queues/%2F/orders")
	p.press("Take one")
	p.readsIn("pre", `"order"`)
	p.shot("taken")
	p.press("Acknowledge")
	p.reads("the message is removed")
	p.press("Take one")
	p.reads("No message is ready.")
	p.show("#/jobs")
	p.reads("There are no jobs yet.") // a message that was taken is not a job
}
