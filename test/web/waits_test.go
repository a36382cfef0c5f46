package web

import "testing"

// TestScheduledMessages reschedules and cancels scheduled messages of a queue and of an exchange.
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
		p.press("Reschedule …")
		p.sees(field("Reschedule the message", "When"))
		p.do(evaluate(`(() => { const f = ` + field("Reschedule the message", "When") + `; f.value = "2091-07-01T10:30"; f.dispatchEvent(new Event("input", {bubbles: true})); })()`))
		p.press("Set", "Reschedule the message")
		p.readsIn("td", "2091")
		p.shot("scheduled")
		p.press("Cancel …")
		p.press("Cancel it", "Cancel this message?")
		p.reads("No message is scheduled.")
	}
}

// TestScheduledMessagesWithoutID checks that a message without a message id is cancelled like any
// other, and no other message with it.
func TestScheduledMessagesWithoutID(t *testing.T) {
	s := openShop(t)
	s.api("PUT", "exchanges/%2F/later", `{"type": "x-delayed-message", "durable": true, "arguments": {"x-delayed-type": "fanout"}}`)
	s.api("POST", "bindings/%2F/e/later/q/orders", `{}`)
	for range 2 {
		s.publish("later", "", map[string]any{"x-delay": 3600000}, "x")
		s.publish("amq.default", "orders", map[string]any{"not-before": "2090-07-01T10:30:00Z"}, "x")
	}
	p := openAt(t, s.at)
	p.login()
	for _, place := range []string{"queues/%2F/orders", "exchanges/%2F/later"} {
		p.show("#/" + place + "?tab=scheduled")
		p.sees(`[...document.querySelectorAll("tbody tr")].filter((r) => r.innerText.includes("(none)")).length === 2`)
		p.press("Cancel …")
		p.press("Cancel it", "Cancel this message?")
		p.sees(`document.querySelectorAll("tbody tr").length === 1`)
		p.press("Reschedule …")
		p.sees(field("Reschedule the message", "When"))
		p.do(evaluate(`(() => { const f = ` + field("Reschedule the message", "When") + `; f.value = "2091-07-01T10:30"; f.dispatchEvent(new Event("input", {bubbles: true})); })()`))
		p.press("Set", "Reschedule the message")
		p.readsIn("td", "2091")
	}
}

// TestCountersOfASemaphore checks that a running task counts as active whether or not it was asked
// to release: the counters add up to what the task list shows.
func TestCountersOfASemaphore(t *testing.T) {
	s := openShop(t)
	s.api("PUT", "semaphores/%2F/asked", `{"active": 2, "try_release": 2}`)
	for _, task := range []struct{ name, priority string }{{"a", "1"}, {"b", "1"}, {"c", "8"}, {"d", "9"}, {"e", "1"}} {
		s.api("PUT", "semaphores/%2F/asked/tasks/"+task.name, `{"priority": `+task.priority+`}`)
	}
	p := openAt(t, s.at)
	p.login()
	p.show("#/semaphores")
	p.sees(`[...document.querySelectorAll("tbody tr")].map((r) => [...r.children].map((c) => c.innerText).join(" ")).join() === "asked / 2 2 3 2,crawlers / 2 2 1 1"`)
	p.press("asked")
	p.readsIn("tr", "TRY_RELEASE")
	for tile, value := range map[string]string{"May run": "2", "Run": "2", "Wait": "3", "Asked to give way": "2\nat most 2 of those that run"} {
		p.readsIn(".tile", tile+"\n"+value)
	}
	const chips = `[...document.querySelectorAll("tbody .chip")].map((c) => c.innerText).sort().join()`
	if got := ask[string](p, chips); got != "TRY_RELEASE,TRY_RELEASE,WAIT,WAIT,WAIT" {
		t.Errorf("the tasks are %s", got)
	}
	p.fill("Limits", "May be asked to give way", "1")
	p.press("Change", "Limits")
	p.readsIn(".tile", "Asked to give way\n1\nat most 1 of those that run")
	p.readsIn(".tile", "Run\n2")
}

// TestLimitsOfASemaphore checks that a change of the limits takes effect at once.
func TestLimitsOfASemaphore(t *testing.T) {
	p := openAt(t, openShop(t).at)
	p.login()
	p.show("#/semaphores")
	p.press("crawlers")
	p.readsIn("tr", "WAIT")
	p.readsIn("tr", "TRY_RELEASE")
	p.fill("Limits", "Active", "3")
	p.press("Change", "Limits")
	p.sees(`[...document.querySelectorAll("tbody .chip")].every((c) => c.innerText === "ACQUIRED")`)
	p.press("Delete …")
	p.press("Delete semaphore", "Delete crawlers?")
	p.reads("There is no semaphore here.")
}
