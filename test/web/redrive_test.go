package web

import "testing"

// TestRedrive checks that a rejected message is in the dead-letter queue, and that a redrive moves
// it back.
func TestRedrive(t *testing.T) {
	p := open(t)
	p.login()
	newQueue(p, "dead")
	p.show("#/queues?new=orders")
	p.sees(`document.activeElement.id === "main"`) // a new view gets the focus once
	p.press("Limits, dead letters and other settings")
	p.fill("New queue", "Dead letters go to exchange", "amq.direct")
	p.fill("New queue", "with routing key", "dead")
	p.press("Create queue")
	p.readsIn("h1", "orders")
	p.show("#/queues/%2F/dead?tab=bindings")
	p.choose("Bind", "From exchange", "amq.direct")
	p.fill("Bind", "Routing key", "dead")
	p.press("Bind", "Bind")
	p.readsIn("td", "amq.direct")

	p.show("#/queues/%2F/orders")
	p.press("Publish", "Publish")
	p.reads("Published: it is in a queue.")
	p.press("Take one")
	p.press("Reject")
	p.reads("it was dead-lettered")

	p.show("#/queues/%2F/dead?tab=manage")
	p.press("Redrive", "Redrive")
	p.readsIn(".card", "1 moved")
	p.shot("redrive")
	p.show("#/queues/%2F/orders?tab=messages")
	p.sees(`document.querySelectorAll("details.message").length === 1`)
}
