package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
)

// jobScript parses lines such as "10..12 taken token=1 attempt=1 ms=1000" into events of the job
// "m". The answer is good unless the line names another.
func jobScript(t *testing.T, lines string) (events []JobEvent) {
	t.Helper()
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		e := JobEvent{MID: "m", Answer: Good}
		if _, err := fmt.Sscanf(words[0], "%d..%d", &e.From, &e.To); err != nil {
			t.Fatal(line, err)
		}
		e.Kind = JobKind(slices.Index(jobKindNames[:], words[1]))
		for _, word := range words[2:] {
			name, value, _ := strings.Cut(word, "=")
			field := map[string]any{"token": &e.Token, "attempt": &e.Attempt, "ms": &e.MS}[name]
			if answer := slices.Index(answerNames[:], name); answer >= 0 {
				e.Answer = Answer(answer)
			} else if _, err := fmt.Sscan(value, field); err != nil {
				t.Fatal(line, err)
			}
		}
		events = append(events, e)
	}
	return events
}

func TestCheckJobsAccepts(t *testing.T) {
	for name, lines := range map[string]string{
		"handled": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=100
			4..5 done token=1`,
		"not enqueued for sure, and not there": `
			0..1 enqueued ?`,
		"the lock ran out": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=100
			102..103 taken token=2 attempt=2 ms=100
			104..105 done token=1 stale
			106..107 done token=2`,
		"taken at the moment at which the lock ran out": `
			0..1 enqueued
			2..9 taken token=1 attempt=1 ms=100
			50..103 taken token=2 attempt=2 ms=100
			106..107 done token=2`,
		"extended, by a request without an answer": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=100
			50..60 extended token=1 ms=10 ?
			61..62 taken token=2 attempt=2 ms=100
			106..107 done token=2`,
		"retried by a request without an answer": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=100
			5..6 retried token=1 ms=50 ?
			58..59 taken token=2 attempt=2 ms=100
			60..61 done token=2 ?`,
		"all in one millisecond": `
			0..0 enqueued
			0..0 taken token=1 attempt=1 ms=100
			0..0 extended token=1 ms=100
			0..0 retried token=1
			0..0 retried token=1 stale
			0..0 taken token=2 attempt=2 ms=100
			0..0 done token=2`,
		"two takes in one millisecond": `
			0..0 enqueued
			0..0 taken token=1 attempt=1 ms=100
			0..0 retried token=1
			0..0 taken token=2 attempt=2 ms=100
			5..5 done token=2`,
		"a take in between had no answer": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=10
			14..15 lost
			90..91 taken token=3 attempt=3 ms=100
			92..93 failed token=3
			99..99 buried`,
		"a second dead letter after a kill": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=100
			4..5 failed token=1
			6..6 killed
			9..9 buried
			9..9 buried`,
		"remembered": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=10
			4..5 done token=1 ms=1000
			9..10 probed remembered
			1010..1011 probed`,
	} {
		t.Run(name, func(t *testing.T) {
			events := jobScript(t, lines)
			for _, breach := range CheckJobs(events) {
				t.Error(breach)
			}
			if !porcupine.CheckOperations(jobModel, jobOperations(events)) {
				t.Error("no order was found")
			}
		})
	}
}

func TestCheckJobsFinds(t *testing.T) {
	for want, lines := range map[string]string{
		"while the lock of": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=100
			50..60 taken token=2 attempt=2 ms=100
			61..62 done token=2`,
		"token=2 attempt=2 ms=100: ok] while the lock of": `
			0..0 enqueued
			0..0 taken token=1 attempt=1 ms=100
			0..0 taken token=2 attempt=2 ms=100
			5..5 done token=2`,
		"] while the lock of": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=100
			50..51 extended token=1 ms=100
			110..111 taken token=2 attempt=2 ms=100
			112..113 done token=2`,
		"never handled": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=100
			4..5 retried token=1`,
		"never enqueued": `
			2..3 taken token=1 attempt=1 ms=100
			4..5 done token=1`,
		"given twice": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=10
			20..21 taken token=1 attempt=2 ms=10
			22..23 done token=1`,
		"which was given later": `
			0..1 enqueued
			2..3 taken token=2 attempt=1 ms=10
			20..21 taken token=1 attempt=2 ms=10
			22..23 done token=1`,
		"was refused while": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=100
			4..5 done token=1 stale
			102..103 taken token=2 attempt=2 ms=100
			104..105 done token=2`,
		"was accepted after its lock was over": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=10
			14..15 done token=1`,
		"[14..15 worker 0: done m token=1 attempt=0 ms=0: ok] was accepted after its lock": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=100
			4..5 retried token=1
			14..15 done token=1`,
		"attempt=2 ms=100: ok] after [": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=100
			4..5 done token=1
			14..15 taken token=2 attempt=2 ms=100`,
		"with 0 takes unanswered": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=10
			14..15 taken token=2 attempt=3 ms=10
			16..17 done token=2`,
		"attempt 1 after attempt 1": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=10
			14..15 taken token=2 attempt=1 ms=10
			16..17 done token=2`,
		"before the backoff of [0..1": `
			0..1 enqueued ms=10
			2..3 taken token=1 attempt=1 ms=10
			4..5 done token=1`,
		"before the backoff of [4..5": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=100
			4..5 retried token=1 ms=50
			6..7 taken token=2 attempt=2 ms=10
			8..9 done token=2`,
		"had it remembered": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=100
			4..5 done token=1 ms=50
			6..7 probed`,
		"no dead letter": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=100
			4..5 failed token=1`,
		"it never failed": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=100
			4..5 done token=1
			9..9 buried`,
		"2 dead letters": `
			0..1 enqueued
			2..3 taken token=1 attempt=1 ms=100
			4..5 failed token=1
			9..9 buried
			9..9 buried`,
	} {
		t.Run(want, func(t *testing.T) {
			breaches := CheckJobs(jobScript(t, lines))
			if !slices.ContainsFunc(breaches, func(b string) bool { return strings.Contains(b, want) }) {
				t.Errorf("got %q", breaches)
			}
		})
	}
}

// TestJobOrders checks that a job that is taken or finished when it cannot be makes the history not
// linearizable.
func TestJobOrders(t *testing.T) {
	const taken = `
		0..1 enqueued
		2..3 taken token=1 attempt=1 ms=100
		`
	for name, lines := range map[string]string{
		"done twice": taken + `
			4..5 done token=1
			6..7 done token=1`,
		"done by two workers": taken + `
			110..111 taken token=2 attempt=2 ms=100
			112..113 done token=1
			114..115 done token=2`,
		"taken while it is locked": taken + `
			50..51 taken token=2 attempt=2 ms=100`,
		"taken after it was done": taken + `
			4..5 done token=1
			110..111 taken token=2 attempt=2 ms=100`,
		"taken before it was there": `
			0..1 taken token=1 attempt=1 ms=100
			2..3 enqueued`,
		"taken in its backoff": taken + `
			4..5 retried token=1 ms=100
			50..51 taken token=2 attempt=2 ms=100`,
		"refused while the lock held": taken + `
			4..5 done token=1 stale`,
		"forgotten when it was done": taken + `
			4..5 done token=1 ms=1000
			6..7 probed`,
		"done without an answer, and done again": taken + `
			4..5 retried token=1 ?
			6..7 taken token=2 attempt=2 ms=100
			8..9 done token=1
			10..11 done token=2`,
	} {
		if porcupine.CheckOperations(jobModel, jobOperations(jobScript(t, lines))) {
			t.Errorf("%s: an order was found", name)
		}
	}
}
