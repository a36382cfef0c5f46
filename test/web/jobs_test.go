package web

import "testing"

func TestJobs(t *testing.T) {
	s := openShop(t)
	p := openAt(t, s.at)
	p.login()
	p.show("#/jobs")
	p.press("mails")
	p.readsIn("tr", "welcome-ann")
	p.press("backing off")
	p.sees(`document.querySelectorAll("tbody tr").length === 1`)
	p.readsIn("tr", "of its back-off")
	p.press("Now")
	p.reads("It is due now.")
	p.reads("No job is in this state.")
	p.press("all")

	p.press("New job")
	p.fill("New job", "Id", "welcome-cat")
	p.fill("New job", "Payload", `{"to": "cat@shop.example"}`)
	p.press("Time and priority", "New job")
	p.fill("New job", "Priority", "3")
	p.press("Enqueue")
	p.readsIn("td", "welcome-cat")
	p.press("welcome-cat")
	p.readsIn("pre", `"to": "cat@shop.example"`)
	p.shot("job")

	s.api("POST", "queues/%2F/mails/messages/take?count=1&lease=1h", "")
	p.press("locked")
	p.readsIn("tr", "of its lease")
	p.sees(`document.querySelectorAll("tbody tr").length === 1`)
	p.press("Cancel …")
	p.press("Cancel job")
	p.reads("Cancelled.")
	p.press("all")
	p.sees(`document.querySelectorAll("tbody tr").length === 2`)
}
