package web

import (
	"fmt"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// openMessage opens the message on the page whose body contains says.
func (p *page) openMessage(says string) {
	p.t.Helper()
	summary := fmt.Sprintf(`[...document.querySelectorAll("details.message summary")].find((s) => s.innerText.includes(%q))`, says)
	p.sees(summary)
	p.do(evaluate(summary + `.click()`))
}

func TestMessagesAreFoundMovedAndDeleted(t *testing.T) {
	s := openShop(t)
	p := openAt(t, s.at)
	p.login()
	p.show("#/queues/%2F/orders?tab=messages")
	p.sees(`document.querySelectorAll("details.message").length === 12`)
	p.fill("Search messages", "Condition", "amount >= 2500 and country = 'SE'")
	p.press("Search")
	p.sees(`document.querySelectorAll("details.message").length === 1`)
	p.openMessage("10010")
	p.readsIn("dt", "country")
	p.readsIn("pre", "\"article\": \"espresso\",\n")
	p.shot("message-found")

	p.press("Move …")
	p.fill("Move this message", "To queue", "orders.dead")
	p.press("Move", "Move this message")
	p.reads("Moved to orders.dead.")
	p.reads("None matches your search.")
	p.fill("Search messages", "Condition", "country = 'DK'")
	p.press("Search")
	p.openMessage("10002")
	p.press("Delete …")
	p.press("Delete", "Delete this message?")
	p.reads("Deleted.")
	p.sees(`document.querySelectorAll("details.message").length === 3`)

	var left, dead struct{ Messages int }
	s.get("queues/%2F/orders", &left)
	s.get("queues/%2F/orders.dead", &dead)
	if left.Messages != 10 || dead.Messages != 1 {
		t.Errorf("%d messages are left and %d moved, want 10 and 1", left.Messages, dead.Messages)
	}
}

// TestLongAndBinaryBodies checks that a list has the beginning of a long body, and the message
// itself all of it.
func TestLongAndBinaryBodies(t *testing.T) {
	s := openShop(t)
	s.publish("shop.dead", "", map[string]any{}, strings.Repeat("long ", 20_000)+"end")
	s.api("POST", "queues/%2F/invoices/messages", `{"payload": "/wD+", "payload_encoding": "base64"}`)
	p := openAt(t, s.at)
	p.login()
	p.show("#/queues/%2F/orders.dead?tab=messages")
	p.openMessage("long")
	p.press("show all of it")
	p.sees(`document.querySelector("pre").innerText.endsWith("end")`)

	p.show("#/queues/%2F/invoices?tab=messages")
	p.openMessage("/wD+")
	p.reads("not text: shown as base64")
}

func TestWhoHasAMessage(t *testing.T) {
	s := openShop(t)
	ch := s.client("slow-reader")
	deliveries, err := ch.Consume("orders", "sloth", false, false, false, false, nil)
	must(t, err)
	<-deliveries
	p := openAt(t, s.at)
	p.login()
	p.show("#/queues/%2F/orders?tab=messages&state=unacked")
	p.openMessage("10000")
	p.readsIn("dd", "consumer sloth on 127.0.0.1:")
	p.reads("A consumer has it")
	p.show("#/queues/%2F/orders")
	p.readsIn("td", "sloth")
}

func TestPurgeAndMoveMany(t *testing.T) {
	s := openShop(t)
	p := openAt(t, s.at)
	p.login()
	p.show("#/queues/%2F/orders?tab=manage")
	p.fill("Move messages", "To queue", "orders.dead")
	p.fill("Move messages", "Filter", "country = 'NO'")
	p.press("Move", "Move messages")
	p.readsIn(".card", "4 moved")
	p.press("Purge …")
	p.press("Purge", "Purge orders?")
	p.reads("Purged.")
	var left, moved struct{ Messages int }
	s.get("queues/%2F/orders", &left)
	s.get("queues/%2F/orders.dead", &moved)
	if left.Messages != 0 || moved.Messages != 4 {
		t.Errorf("%d messages are left and %d moved, want 0 and 4", left.Messages, moved.Messages)
	}
}

func TestConnectionIsClosed(t *testing.T) {
	s := openShop(t)
	closed := s.client("till-7").NotifyClose(make(chan *amqp.Error, 1))
	p := openAt(t, s.at)
	p.login()
	p.show("#/connections")
	p.readsIn("td", "till-7")
	p.shot("connection")
	name := ask[string](p, `document.querySelector("td.name a").innerText`)
	p.press("Close …")
	p.fill("Close "+name+"?", "Reason", "the till is moved, später")
	p.press("Close connection", "Close "+name+"?")
	p.reads("No client is connected.")
	if err := <-closed; err == nil || !strings.Contains(err.Reason, "the till is moved, später") {
		t.Errorf("the client heard %v", err)
	}
}
