package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestLogin(t *testing.T) {
	p := open(t)
	p.sees(`document.querySelector("form[aria-label='Log in']") !== null`)
	p.shot("login")
	p.expectRefusals(1)
	p.fill("Log in", "User", "guest")
	p.fill("Log in", "Password", "wrong")
	p.press("Log in", "Log in")
	p.reads("Login failed")

	p.fill("Log in", "Password", "guest")
	p.press("Log in", "Log in")
	p.sees(`document.querySelector("#navigation") !== null`)
	p.do(chromedp.Reload())
	p.sees(`document.querySelector("#navigation") !== null`) // the login lasts as long as the tab

	p.press("Log out")
	p.sees(`document.querySelector("form[aria-label='Log in']") !== null`)
	if kept := ask[int](p, `sessionStorage.length`); kept != 0 {
		t.Errorf("after the logout the tab keeps %d entries", kept)
	}
}

// newQueue creates a durable queue and shows its page.
func newQueue(p *page, name string) {
	p.t.Helper()
	p.show("#/queues?new=" + name)
	p.press("Create queue")
	p.readsIn("h1", name)
}

func TestQueueIsMadeListedAndDeleted(t *testing.T) {
	p := open(t)
	p.login()
	p.show("#/queues")
	p.reads("There is no queue yet")
	newQueue(p, "orders")
	p.show("#/queues")
	p.readsIn("td", "orders")
	p.shot("queues")

	p.show("#/queues/%2F/orders?tab=manage")
	p.press("Delete queue …")
	p.sees(`document.querySelector("dialog[open]") !== null`)
	p.press("Delete queue")
	p.reads("There is no queue yet")
}

func TestBindingsAreDrawn(t *testing.T) {
	p := open(t)
	p.login()
	newQueue(p, "orders")
	p.show("#/queues/%2F/orders?tab=bindings")
	p.choose("Bind", "From exchange", "amq.topic")
	p.fill("Bind", "Routing key", "order.*")
	p.press("Bind", "Bind")
	p.readsIn("td", "order.*")
	p.sees(`document.querySelectorAll(".graph .edge path").length === 1`)
	p.show("#/topology")
	p.sees(`document.querySelectorAll(".graph .node").length === 2`)
}

// TestNamesAreNoMarkup checks that a name is shown as text, whatever it contains.
func TestNamesAreNoMarkup(t *testing.T) {
	p := open(t)
	p.login()
	p.show("#/queues")
	p.press("New queue")
	p.fill("New queue", "Name", "<img src=x onerror=alert(1)>")
	p.press("Create queue")
	p.readsIn("h1", "<img src=x onerror=alert(1)>")
	if n := ask[int](p, `document.querySelectorAll("main img").length`); n != 0 {
		t.Errorf("a name became %d pictures", n)
	}
}

func TestSemaphores(t *testing.T) {
	p := open(t)
	p.login()
	p.show("#/semaphores")
	p.reads("There is no semaphore here")
	p.press("New semaphore")
	p.fill("New semaphore", "Name", "crowd")
	p.fill("New semaphore", "Active", "1")
	p.press("Create semaphore")
	for i, task := range []string{"cat", "dog"} {
		p.fill("New task", "Task", task)
		p.fill("New task", "Priority", fmt.Sprint(9-i))
		p.press("Enqueue")
		p.readsIn("td", task)
	}
	p.readsIn("tr", "ACQUIRED")
	p.readsIn("tr", "WAIT")
	p.shot("semaphore")
	p.press("Release")
	p.sees(`![...document.querySelectorAll("td")].some((td) => td.innerText === "cat")`)
}

// TestRefusalsAreShown checks that a refusal shows its reason.
func TestRefusalsAreShown(t *testing.T) {
	p := open(t)
	p.login()
	newQueue(p, "orders")
	p.show("#/queues")
	p.press("New queue")
	p.fill("New queue", "Name", "orders")
	p.press("Limits, dead letters and other settings")
	p.fill("New queue", "Max length", "5")
	p.expectRefusals(1)
	p.press("Create queue")
	p.readsIn("[role=alert]", "inequivalent arg")
}
