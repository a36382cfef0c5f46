package web

import (
	"encoding/json"
	"fmt"
	"testing"
)

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

// TestJobsThatFailed checks that jobs to be retried and jobs that have failed for good are listed
// with their reasons, and are retried and deleted all at once.
func TestJobsThatFailed(t *testing.T) {
	s := openShop(t)
	s.api("PUT", "policies/%2F/mails", `{"pattern": "^mails$", "apply-to": "queues", "definition": {"dead-letter-exchange": "shop.dead"}}`)
	s.api("POST", "jobs/%2F/mails", `{"id": "welcome-dan", "backoff": "1h"}`)
	s.fail("mails", "no such mailbox")
	p := openAt(t, s.at)
	p.login()
	p.show("#/jobs/%2F/mails?tab=dead")
	p.readsIn("tr", "welcome-ann")
	p.readsIn("tr", "no such mailbox")
	p.shot("jobs-dead")
	p.press("Retry all …")
	p.press("Retry all", "Retry all failed jobs of mails?")
	p.reads("No failed job is here.")
	s.fail("mails", "again")
	p.typed("r")
	p.readsIn("tr", "again")
	p.press("Delete all …")
	p.press("Delete all", "Delete all failed jobs of mails?")
	p.reads("1 job deleted.")

	p.press("Retry")
	p.sees(`document.querySelectorAll("tbody tr").length === 2`)
	p.press("Retry all …")
	p.press("Retry all", "Retry all jobs of mails now?")
	p.reads("2 jobs ready now.")
	p.reads("No job is in this state.")
	s.report("mails", `"delay": "1h", "error": "mailbox full"`)
	s.api("POST", "jobs/%2F/mails", `{"id": "welcome-eve", "backoff": "1h"}`)
	p.typed("r")
	p.readsIn("tr", "mailbox full")
	p.readsIn("tr", "welcome-eve")
	p.press("Delete all …")
	p.press("Delete all", "Delete all jobs of mails that are backing off?")
	p.reads("2 jobs deleted.")

	p.show("#/jobs")
	p.reads("Given up, 24\u00a0h")
	p.sees(`document.querySelector("tbody tr td:last-child").textContent === "2"`)
}

// fail takes the next job of a queue and reports that it has failed for good.
func (s *shop) fail(queue, why string) {
	s.t.Helper()
	s.report(queue, fmt.Sprintf(`"requeue": false, "error": %q`, why))
}

// report takes the next job of a queue and reports on it.
func (s *shop) report(queue, how string) {
	s.t.Helper()
	var taken struct{ Messages []struct{ Token string } }
	if err := json.Unmarshal(s.api("POST", "queues/%2F/"+queue+"/messages/take?count=1&lease=1h", ""), &taken); err != nil || len(taken.Messages) != 1 {
		s.t.Fatal(taken, err)
	}
	s.api("POST", "queues/%2F/"+queue+"/messages/nack", fmt.Sprintf(`{"tokens": [%q], %s}`, taken.Messages[0].Token, how))
}
