package web

import (
	"context"
	"net/http"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// TestNeedsAttention checks that the overview lists what an operator should look at, with links,
// and that the list of queues marks the same queues.
func TestNeedsAttention(t *testing.T) {
	s := openShop(t)
	p := openAt(t, s.at)
	p.login()
	p.showView("overview")

	s.publish("shop.dead", "", map[string]any{}, "died")
	s.flood("invoices")
	for range 3 {
		go s.guess()
	}
	for _, kind := range []string{"Growing queue", "No consumer", "Dead letters", "Failed logins"} {
		p.readsIn(`[aria-label="Needs attention"] td`, kind)
	}
	p.shot("attention")
	p.press("orders.dead", "Needs attention")
	p.readsIn("h1", "orders.dead")
	p.readsIn("details.message", "died")
	p.show("#/queues")
	p.sees(`[...document.querySelectorAll("tbody tr")].some((r) => ["invoices", "growing", "none"].every((text) => r.innerText.includes(text)))`)
	p.shot("queues-growing")
}

// flood publishes to a queue until the test ends, one confirm at a time.
func (s *shop) flood(queue string) {
	s.t.Helper()
	ch := s.client("flood")
	if err := ch.Confirm(false); err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.t.Cleanup(cancel)
	go func() {
		for ctx.Err() == nil {
			confirmed, err := ch.PublishWithDeferredConfirm("", queue, false, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte("x")})
			if err != nil || !wait(ctx, confirmed) {
				return
			}
		}
	}()
}

// guess tries to log in with a wrong password.
func (s *shop) guess() {
	r, err := http.NewRequest("GET", s.at+"/api/whoami", nil)
	if err != nil {
		return
	}
	r.SetBasicAuth("mallory", "guess")
	if answer, err := http.DefaultClient.Do(r); err == nil {
		answer.Body.Close()
	}
}
