package mbus

import (
	"testing"

	"fiveways.dev/fiveways/internal/core/catalog"
)

// TestAdopt: create_queue keeps an existing queue unchanged and feeds it from then on. Its messages
// have no dependencies.
func TestAdopt(t *testing.T) {
	a, _, end := twoCallers(t)
	defer end()
	policy := catalog.DefaultQueuePolicy()
	policy.MaxLength = 1
	if _, err := a.s.own.DeclareQueue(catalog.QueueSpec{Name: "q", Durable: true, Policy: policy}); err != nil {
		t.Fatal(err)
	}
	a.call("post", "q", "n=>1")
	a.call("create_queue", "q", 4)
	a.call("create_consumer", "q", "c")
	a.consumes("q", `"n"=>"1"`)
	first := a.text("post", "q", "n=>2")
	a.call("post", "q", "n=>3", "consume_after=>{"+first+"}")
	a.consumes("q", `"n"=>"3"`) // the queue has kept its limit, and consume_after is ignored
	a.consumesBy("q", "c", `"n"=>"2"`, `"n"=>"3"`)
}
