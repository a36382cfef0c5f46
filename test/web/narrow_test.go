package web

import (
	"fmt"
	"strings"
	"testing"
)

// outside lists the buttons of the page and its dialogs that are not completely inside the window,
// with their positions. It omits buttons that sort a table, because they scroll with the table's
// head.
const outside = `[...document.querySelectorAll("button, a.button, select")]
	.filter((b) => b.checkVisibility() && !b.closest("th"))
	.map((b) => [b, b.getBoundingClientRect()])
	.filter(([b, r]) => r.left < 0 || r.right > innerWidth || hidden(b, r))
	.map(([b, r]) => (b.ariaLabel || b.innerText) + " from " + Math.round(r.left) + " to " + Math.round(r.right))`

// hidden reports whether a scroll container clips a part of an element.
const hidden = `globalThis.hidden = (b, r) => {
	const s = b.closest(".scroll, .card, dialog")?.getBoundingClientRect();
	return s !== undefined && (r.left < s.left - 1 || r.right > s.right + 1);
}`

// TestButtonsOnANarrowWindow checks that every button is visible and can be pressed in a narrow
// window, however long the names beside it are.
func TestButtonsOnANarrowWindow(t *testing.T) {
	s := openShop(t)
	long := "a-name-without-a-space-that-is-" + strings.Repeat("longer-", 8) + "than-a-line"
	s.api("PUT", "queues/%2F/"+long, `{}`)
	s.api("PUT", "vhosts/"+long, `{}`)
	s.api("PUT", "users/"+long, `{"password": "x", "tags": "management"}`)
	s.api("PUT", "semaphores/%2F/"+long, `{"active": 3}`)
	s.api("PUT", "semaphores/%2F/"+long+"/tasks/"+long, `{"priority": 1}`)
	s.api("PUT", "exchanges/%2F/"+long, `{"type": "x-delayed-message", "durable": true, "arguments": {"x-delayed-type": "fanout"}}`)
	s.api("PUT", "permissions/%2F/"+long, fmt.Sprintf(`{"configure": "^%[1]s", "write": "^%[1]s", "read": "^%[1]s"}`, long))
	s.api("PUT", "topic-permissions/%2F/"+long, fmt.Sprintf(`{"exchange": "shop", "write": "^%[1]s", "read": "^%[1]s"}`, long))
	s.api("PUT", "policies/%2F/"+long, fmt.Sprintf(`{"pattern": "^%s", "apply-to": "queues", "definition": {"max-length": 5}}`, long))
	s.api("PUT", "user-limits/"+long+"/max-connections", `{"value": 3}`)
	s.api("PUT", "keys/"+long, fmt.Sprintf(`{"value": %q}`, long))
	s.api("POST", "bindings/%2F/e/"+long+"/q/"+long, fmt.Sprintf(`{"routing_key": %q}`, long))
	s.api("POST", "jobs/%2F/mails", fmt.Sprintf(`{"id": %q, "payload": "x"}`, long))
	s.api("POST", "jobs/%2F/mails", fmt.Sprintf(`{"id": "later-%s", "payload": "x", "backoff": "1h"}`, long))
	s.api("POST", "queues/%2F/"+long+"/messages", fmt.Sprintf(`{"payload": %[1]q, "properties": {"message_id": %[1]q}}`, long))
	s.api("POST", "queues/%2F/"+long+"/messages", fmt.Sprintf(`{"payload": "x", "delay_ms": 3600000, "properties": {"message_id": %q}}`, long))
	if _, err := s.client(long).Consume(long, long, false, true, false, false, nil); err != nil {
		t.Fatal(err)
	}
	p := openAt(t, s.at)
	p.login()
	p.sized(390, 844)
	p.do(evaluate(hidden))
	check := func(where string) {
		t.Helper()
		for _, b := range ask[[]string](p, outside) {
			t.Errorf("%s: a button is cut off: %s", where, b)
		}
		if wide := ask[int](p, `document.documentElement.scrollWidth`); wide > 390 {
			t.Errorf("%s is %d pixels wide", where, wide)
		}
	}
	own := []string{
		"queues/%2F/" + long, "queues/%2F/" + long + "?tab=messages", "queues/%2F/" + long + "?tab=scheduled", "queues/%2F/" + long + "?tab=bindings",
		"queues/%2F/" + long + "?tab=manage", "exchanges/%2F/" + long, "exchanges/%2F/" + long + "?tab=bindings", "users/" + long, "vhosts/" + long, "semaphores/%2F/" + long,
	}
	for _, view := range append(own, views...) {
		p.showView(view)
		check(view)
		if title, opens := map[string]string{"jobs/%2F/mails": "Job ", "keys": "", "policies": "Change policy "}[view]; opens {
			p.press(long)
			p.readsIn("h2", title+long)
			check(view + " with one open")
		}
	}
	p.showView("queues/%2F/" + long + "?tab=messages")
	p.sees(`document.querySelector("details.message") !== null`)
	p.do(evaluate(`document.querySelectorAll("details.message summary").forEach((s) => s.click())`))
	p.readsIn("dt", "Message id")
	check("an open message")
	p.showView("queues/%2F/orders")
	p.press("Take one")
	p.reads("Give back")
	check("a message that is taken")
	p.shot("narrow-taken")
	p.showView("connections")
	p.shot("narrow-connections")
}

// What an operator looks for at night is there on a phone, too: which queue has no consumer, and
// why a job is tried again.
func TestTroubleOnANarrowWindow(t *testing.T) {
	s := openShop(t)
	s.report("mails", `"delay": "1h", "error": "mailbox full"`)
	p := openAt(t, s.at)
	p.login()
	p.sized(390, 844)
	p.showView("queues")
	p.sees(`[...document.querySelectorAll("tbody tr")].some((r) => r.innerText.startsWith("orders\t") && r.innerText.endsWith("none"))`)
	p.showView("jobs/%2F/mails?tab=retry")
	p.sees(`[...document.querySelectorAll("tbody tr")].some((r) => r.innerText.includes("welcome-ann\tmailbox full"))`)
	if over := ask[[]string](p, scrolled); len(over) > 0 {
		t.Errorf("a part of the jobs is seen only when scrolled to: %q", over)
	}
	p.shot("narrow-jobs")
	p.showView("audit")
	p.sees(`/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(document.querySelector("tbody td").innerText)`)
}
