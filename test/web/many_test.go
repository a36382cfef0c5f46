package web

import (
	"encoding/json"
	"fmt"
	"testing"
)

// TestFiveThousandQueues checks that the broker searches, sorts and paginates five thousand queues,
// of which the page holds one page.
func TestFiveThousandQueues(t *testing.T) {
	const many = 5000
	s := openShop(t)
	type queue struct {
		Name      string         `json:"name"`
		VHost     string         `json:"vhost"`
		Arguments map[string]any `json:"arguments"`
	}
	var file struct {
		Queues []queue `json:"queues"`
	}
	for i := range many {
		file.Queues = append(file.Queues, queue{fmt.Sprintf("device.%04d", i), "/", map[string]any{}})
	}
	text, err := json.Marshal(file)
	must(t, err)
	s.api("POST", "definitions", string(text))
	s.api("POST", "queues/%2F/device.4321/messages", `{"payload": "ping"}`)

	p := openAt(t, s.at)
	p.login()
	p.show("#/queues")
	p.readsIn("[role=status]", "of 5,006")
	p.sees(`document.querySelectorAll("tbody tr").length === 100`)
	p.press("Ready")
	p.readsIn("th[aria-sort=ascending]", "Ready")
	p.press("Ready ▴")
	p.sees(`document.querySelector("tbody td").innerText === "orders"`)
	p.shot("queues-many")

	p.do(evaluate(`document.querySelector("input[type=search]").focus()`))
	p.typed("device.432")
	p.readsIn("[role=status]", "10 of 5,006")
	p.sees(`document.querySelector("tbody td").innerText === "device.4321"`)
	p.do(evaluate(`document.querySelector("input[type=search]").select()`))
	p.typed("^device.*9$")
	p.do(evaluate(`document.querySelector("main label.row input[type=checkbox]").click()`))
	p.readsIn("[role=status]", "500 of 5,006")
	p.press("Next page")
	p.sees(`document.querySelectorAll("tbody tr").length === 100`)
	p.readsIn("span", "2 / 5")

	// A drawing of everything stays small, and says what it omits.
	p.show("#/topology")
	p.sees(`document.querySelectorAll(".graph .node").length > 5`)
}
