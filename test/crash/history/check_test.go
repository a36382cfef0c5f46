package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// script parses lines such as "sent p1 q", "delivered p1 q again", "acked p1 q tx=7", "commit tx=7"
// and "crash" into a history. A message is written as its publisher's letter and its number. key=,
// by=, count=, at= and after= set further fields.
func script(t *testing.T, lines string) []Event {
	t.Helper()
	kinds := map[string]Kind{
		"sent": Sent, "confirmed": Confirmed, "delivered": Delivered, "acked": Acked, "requeued": Requeued,
		"commit": CommitSent, "committed": Committed, "rollback": RolledBack, "synced": Synced, "named": Named, "isolated": Isolated, "crash": Crashed,
	}
	var events []Event
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		e := Event{Kind: kinds[words[0]]}
		if e.Kind == 0 {
			t.Fatalf("unknown event %q", line)
		}
		for _, w := range words[1:] {
			switch {
			case w == "byname":
				e.ByName = true
			case w == "copy":
				e.Copy = true
			case w == "again":
				e.Redelivered = true
			case strings.HasPrefix(w, "tx="):
				e.Tx = int(w[3] - '0')
			case strings.HasPrefix(w, "key="):
				e.Key = w[4:]
			case strings.HasPrefix(w, "by="):
				e.Consumer = w[3:]
			case strings.HasPrefix(w, "count="):
				e.Count = int(w[6] - '0')
			case strings.HasPrefix(w, "after="):
				e.After = append(e.After, MsgID{Publisher: w[6:7], Seq: int(w[7] - '0')})
			case strings.HasPrefix(w, "at="):
				fmt.Sscan(w[3:], &e.At)
			case w[0] == 'q':
				e.Queue = w
			default:
				e.Msg = MsgID{Publisher: w[:1], Seq: int(w[1] - '0')}
			}
		}
		events = append(events, e)
	}
	return events
}

// TestCheckAccepts checks runs that a correct broker may show.
func TestCheckAccepts(t *testing.T) {
	for name, lines := range map[string]string{
		"confirmed, delivered, acked": `
			sent p1 q
			confirmed p1
			delivered p1 q
			acked p1 q`,
		"unconfirmed and lost in the crash": `
			sent p1 q
			crash`,
		"unconfirmed, seen and then lost in the crash": `
			sent p1 q
			delivered p1 q
			crash`,
		"unconfirmed but kept": `
			sent p1 q
			crash
			delivered p1 q
			acked p1 q`,
		"a bare ack may be lost": `
			sent p1 q
			confirmed p1
			delivered p1 q
			acked p1 q
			crash
			delivered p1 q again
			acked p1 q`,
		"requeued behind what was already out": `
			sent p1 q
			sent p2 q
			delivered p1 q
			delivered p2 q
			requeued p1 q
			acked p2 q
			delivered p1 q again
			acked p1 q`,
		"redelivered set on a first delivery after a crash": `
			sent p1 q
			crash
			delivered p1 q again
			acked p1 q`,
		"order starts anew in each round": `
			sent p1 q
			sent p2 q
			delivered p1 q
			delivered p2 q
			crash
			delivered p1 q again
			delivered p2 q again
			acked p1 q
			acked p2 q`,
		"publishers are not ordered among each other": `
			sent p1 q
			sent o1 q
			sent p2 q
			delivered o1 q
			delivered p1 q
			delivered p2 q
			acked o1 q
			acked p1 q
			acked p2 q`,
		"committed transaction over two queues": `
			sent p1 q1 tx=1
			sent p2 q2 tx=1
			commit tx=1
			delivered p1 q1
			committed tx=1
			delivered p2 q2
			acked p1 q1
			acked p2 q2`,
		"transaction without an answer, all there": `
			sent p1 q1 tx=1
			sent p2 q2 tx=1
			commit tx=1
			crash
			delivered p1 q1
			delivered p2 q2
			acked p1 q1
			acked p2 q2`,
		"transaction without an answer, nothing there": `
			sent p1 q1 tx=1
			sent p2 q2 tx=1
			commit tx=1
			crash`,
		"transaction without an answer, one settled before the crash and one after": `
			sent p1 q1 tx=1
			sent p2 q2 tx=1
			commit tx=1
			delivered p1 q1
			acked p1 q1
			crash
			delivered p2 q2
			acked p2 q2`,
		"transaction without an answer, a part seen and all lost": `
			sent p1 q1 tx=1
			sent p2 q2 tx=1
			commit tx=1
			delivered p1 q1
			acked p1 q1
			crash`,
		"acknowledgements of a transaction without an answer, all lost": `
			sent p1 q
			sent p2 q
			confirmed p1
			confirmed p2
			delivered p1 q
			delivered p2 q
			acked p1 q tx=1
			acked p2 q tx=1
			commit tx=1
			crash
			delivered p1 q again
			delivered p2 q again
			acked p1 q
			acked p2 q`,
		"acknowledgements of a transaction without an answer, all kept": `
			sent p1 q
			sent p2 q
			confirmed p1
			confirmed p2
			delivered p1 q
			delivered p2 q
			acked p1 q tx=1
			acked p2 q tx=1
			commit tx=1
			crash`,
		"half the acknowledgements return, as the other message was lost unconfirmed": `
			sent p1 q
			sent p2 q
			confirmed p1
			delivered p1 q
			delivered p2 q
			acked p1 q tx=1
			acked p2 q tx=1
			commit tx=1
			crash
			delivered p1 q again
			acked p1 q`,
	} {
		t.Run(name, func(t *testing.T) {
			if breaches := Plain.Check(script(t, lines)); breaches != nil {
				t.Errorf("breaches in a correct run: %q", breaches)
			}
		})
	}
}

// TestCheckFindsPlantedBugs checks runs that each show one bug, with the beginnings of all breaches
// that must be reported.
func TestCheckFindsPlantedBugs(t *testing.T) {
	for name, c := range map[string]struct {
		lines string
		want  []string
	}{
		"confirmed message lost": {`
			sent p1 q
			confirmed p1
			crash`,
			[]string{"confirmed but never delivered: p#1 in q"}},
		"confirmed for two queues, kept in one": {`
			sent p1 q1
			sent p1 q2
			confirmed p1
			crash
			delivered p1 q1
			acked p1 q1`,
			[]string{"confirmed but never delivered: p#1 in q2"}},
		"unacked message lost": {`
			sent p1 q
			confirmed p1
			delivered p1 q
			crash`,
			[]string{"lost without an acknowledgement: p#1 in q"}},
		"requeued message lost": {`
			sent p1 q
			confirmed p1
			delivered p1 q
			requeued p1 q`,
			[]string{"lost without an acknowledgement: p#1 in q"}},
		"acknowledgement applied without its commit": {`
			sent p1 q
			confirmed p1
			delivered p1 q
			acked p1 q tx=1
			crash`,
			[]string{"lost without an acknowledgement: p#1 in q"}},
		"message from nowhere": {`
			delivered p1 q
			acked p1 q`,
			[]string{"delivered but never sent: p#1 in q"}},
		"message in the wrong queue": {`
			sent p1 q1
			delivered p1 q2
			acked p1 q2`,
			[]string{"delivered but never sent: p#1 in q2"}},
		"delivered before it was sent": {`
			delivered p1 q
			acked p1 q
			sent p1 q`,
			[]string{"delivered but never sent: p#1 in q"}},
		"flag missing after a crash": {`
			sent p1 q
			delivered p1 q
			crash
			delivered p1 q
			acked p1 q`,
			[]string{"delivered again without the redelivered flag: p#1 in q"}},
		"flag missing after a requeue": {`
			sent p1 q
			delivered p1 q
			requeued p1 q
			delivered p1 q
			acked p1 q`,
			[]string{"delivered again without the redelivered flag: p#1 in q"}},
		"delivered twice": {`
			sent p1 q
			delivered p1 q
			delivered p1 q again
			acked p1 q`,
			[]string{"delivered twice while its consumer held it: p#1 in q"}},
		"order": {`
			sent p1 q
			sent p2 q
			delivered p2 q
			delivered p1 q
			acked p1 q
			acked p2 q`,
			[]string{"first delivered after #2 of its publisher: p#1 in q", "delivered after #2 of its publisher: p#1 in q"}},
		"order over a crash": {`
			sent p1 q
			sent p2 q
			delivered p2 q
			crash
			delivered p1 q
			delivered p2 q again
			acked p1 q
			acked p2 q`,
			[]string{"first delivered after #2 of its publisher: p#1 in q"}},
		"order of what a crash put back": {`
			sent p1 q
			sent p2 q
			delivered p1 q
			delivered p2 q
			crash
			delivered p2 q again
			delivered p1 q again
			acked p1 q
			acked p2 q`,
			[]string{"delivered after #2 of its publisher: p#1 in q"}},
		"committed transaction with a message missing": {`
			sent p1 q1 tx=1
			sent p2 q2 tx=1
			commit tx=1
			committed tx=1
			crash
			delivered p1 q1
			acked p1 q1`,
			[]string{"confirmed but never delivered: p#2 in q2"}},
		"transaction half applied": {`
			sent p1 q1 tx=1
			sent p2 q2 tx=1
			commit tx=1
			crash
			delivered p1 q1
			acked p1 q1`,
			[]string{"tx 1 half applied: 1 of its 2 messages came"}},
		"rolled back message delivered": {`
			sent p1 q tx=1
			rollback tx=1
			delivered p1 q
			acked p1 q`,
			[]string{"tx 1 was not committed, but 1 of its 1 messages came"}},
		"open transaction survives the crash": {`
			sent p1 q tx=1
			crash
			delivered p1 q
			acked p1 q`,
			[]string{"tx 1 was not committed, but 1 of its 1 messages came"}},
		"delivered before the commit": {`
			sent p1 q tx=1
			delivered p1 q
			commit tx=1
			committed tx=1
			acked p1 q`,
			[]string{"delivered before the commit of tx 1: p#1 in q"}},
		"committed acknowledgement comes back": {`
			sent p1 q
			confirmed p1
			delivered p1 q
			acked p1 q tx=1
			commit tx=1
			committed tx=1
			crash
			delivered p1 q again
			acked p1 q`,
			[]string{"came back after its acknowledgement was committed in tx 1: p#1 in q"}},
		"half the acknowledgements applied": {`
			sent p1 q
			sent p2 q
			confirmed p1
			confirmed p2
			delivered p1 q
			delivered p2 q
			acked p1 q tx=1
			acked p2 q tx=1
			commit tx=1
			crash
			delivered p2 q again
			acked p2 q`,
			[]string{"tx 1 half applied: 1 of 2 acknowledged messages came back"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Plain.Check(script(t, c.lines)); !slices.Equal(got, c.want) {
				t.Errorf("breaches %q, want %q", got, c.want)
			}
		})
	}
}

func TestHistoryGrown(t *testing.T) {
	var h Messages
	h.Add(Event{Kind: Crashed})
	three := h.Grown(3)
	h.Add(Event{Kind: Crashed}, Event{Kind: Crashed})
	select {
	case <-three:
		t.Fatal("told after two more events")
	default:
	}
	h.Add(Event{Kind: Crashed})
	select {
	case <-three:
	default:
		t.Fatal("not told after three more events")
	}
	if n := len(h.Events()); n != 4 {
		t.Errorf("%d events, want 4", n)
	}
}
