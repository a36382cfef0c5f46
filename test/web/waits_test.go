package web

import "testing"

// What waits for its time gets another one, or is cancelled, in a queue and in an exchange.
func TestScheduledMessages(t *testing.T) {
	s := openShop(t)
	s.api("PUT", "exchanges/%2F/later", `{"type": "x-delayed-message", "durable": true, "arguments": {"x-delayed-type": "fanout"}}`)
	s.api("POST", "bindings/%2F/e/later/q/orders", `{}`)
	s.api("POST", "exchanges/%2F/later/publish", `{"routing_key": "", "payload": "x", "payload_encoding": "string", "properties": {"message_id": "trial-17", "headers": {"x-delay": 3600000}}}`)
	s.api("POST", "queues/%2F/invoices/messages", `{"payload": "good morning", "delay_ms": 3600000, "properties": {"message_id": "invoice-42"}}`)
	p := openAt(t, s.at)
	p.login()
	p.show("#/queues/%2F/invoices")
	p.readsIn(".tile", "Scheduled\n1")
	for _, at := range []struct{ place, message string }{{"queues/%2F/invoices", "invoice-42"}, {"exchanges/%2F/later", "trial-17"}} {
		p.show("#/" + at.place + "?tab=scheduled")
		p.readsIn("td", at.message)
		p.press("Another time …")
		p.sees(field("Another time", "When"))
		p.do(evaluate(`(() => { const f = ` + field("Another time", "When") + `; f.value = "2091-07-01T10:30"; f.dispatchEvent(new Event("input", {bubbles: true})); })()`))
		p.press("Set", "Another time")
		p.readsIn("td", "2091")
		p.shot("scheduled")
		p.press("Cancel …")
		p.press("Cancel it", "Cancel this message?")
		p.reads("No message waits for its time.")
	}
}

// A change of the limits decides at once who runs.
func TestLimitsOfASemaphore(t *testing.T) {
	p := openAt(t, openShop(t).at)
	p.login()
	p.show("#/semaphores")
	p.press("crawlers")
	p.readsIn("tr", "WAIT")
	p.readsIn("tr", "TRY_RELEASE")
	p.fill("Limits", "So many may run", "3")
	p.press("Change", "Limits")
	p.sees(`[...document.querySelectorAll("tbody .chip")].every((c) => c.innerText === "ACQUIRED")`)
	p.press("Delete …")
	p.press("Delete semaphore", "Delete crawlers?")
	p.reads("There is no semaphore here.")
}
