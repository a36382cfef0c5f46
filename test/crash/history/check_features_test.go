package history

import (
	"slices"
	"testing"
)

// TestCheckFeatures checks runs of queues with special arguments. Those that are correct want no
// breach, and the others have a planted bug.
func TestCheckFeatures(t *testing.T) {
	for name, c := range map[string]struct {
		promises Promises
		lines    string
		want     []string
	}{
		"delayed, in time": {Delayed, "sent p1 q at=50\n confirmed p1\n delivered p1 q at=50\n acked p1 q", nil},
		"delayed, early": {Delayed, "sent p1 q at=50\n confirmed p1\n delivered p1 q at=48\n acked p1 q",
			[]string{"delivered 2 ms early: p#1 in q"}},
		"delayed, lost": {Delayed, "sent p1 q at=50\n confirmed p1\n crash at=20", []string{"confirmed but never delivered: p#1 in q"}},
		"delayed, on its way anew and unmarked": {Delayed, `
			sent p1 q at=50
			confirmed p1
			delivered p1 q at=51
			crash at=52
			delivered p1 q at=60
			acked p1 q`, []string{"delivered again without the redelivered flag: p#1 in q"}},
		"delayed, doubled within a shard": {Delayed, `
			sent p1 q at=50
			crash at=52
			delivered p1 q again at=60
			delivered p1 q again at=61
			acked p1 q`, []string{"delivered twice while its consumer held it: p#1 in q"}},
		"delayed, doubled by a kill": {DelayedElsewhere, `
			sent p1 q at=50
			crash at=52
			delivered p1 q again at=60
			delivered p1 q again at=61
			acked p1 q`, nil},
		"delayed, doubled without a kill": {DelayedElsewhere, `
			sent p1 q at=50
			crash at=40
			delivered p1 q again at=60
			delivered p1 q again at=61
			acked p1 q`, []string{"delivered twice while its consumer held it: p#1 in q"}},

		"once, an unconfirmed one lost and followed by another": {Once, `
			sent p1 q key=a
			delivered p1 q key=a
			crash
			sent p2 q key=a
			confirmed p2
			delivered p2 q key=a
			acked p2 q`, nil},
		"once, taken twice in a life": {Once, `
			sent p1 q key=a
			sent p2 q key=a
			delivered p1 q key=a
			delivered p2 q key=a
			acked p1 q
			acked p2 q`, []string{"delivered as p#1 and as p#2: key a in q"}},
		"once, a confirmed key forgotten": {Once, `
			sent p1 q key=a
			confirmed p1
			delivered p1 q key=a
			acked p1 q
			crash
			sent p2 q key=a
			delivered p2 q key=a
			acked p2 q`, []string{"delivered as p#1 and as p#2: key a in q"}},
		"once, a key forgotten whose message is settled": {Once, `
			sent p1 q key=a
			delivered p1 q key=a
			acked p1 q tx=1
			commit tx=1
			committed tx=1
			crash
			sent p2 q key=a
			delivered p2 q key=a
			acked p2 q`, []string{"delivered as p#1 and as p#2: key a in q"}},
		"once, the message lost and its key kept": {Once, "sent p1 q key=a\n crash\n sent p2 q key=a\n confirmed p2",
			[]string{"confirmed but never delivered: key a in q"}},

		"limited, dies after its returns": {Limited, died + "delivered p1 q.dead\n acked p1 q.dead", nil},
		"limited, lost as it died":        {Limited, died, []string{"lost without an acknowledgement: p#1 in q"}},
		"limited, dead too early": {Limited, `
			sent p1 q
			delivered p1 q
			requeued p1 q
			delivered p1 q.dead
			acked p1 q.dead`, []string{"dead after coming back 1 times: p#1 in q.dead"}},
		"limited, dead and back": {Limited, died + "synced q\n crash\n delivered p1 q again count=3\n acked p1 q",
			[]string{"came back from the dead: p#1 in q"}},
		"limited, an unpromised count lost": {Limited, `
			sent p1 q
			confirmed p1
			delivered p1 q
			requeued p1 q
			crash
			delivered p1 q again
			acked p1 q`, nil},
		"limited, a promised count lost": {Limited, `
			sent p1 q
			confirmed p1
			delivered p1 q
			requeued p1 q
			synced q
			crash
			delivered p1 q again
			acked p1 q`, []string{"count 0, but 1 returns were promised to count: p#1 in q"}},
		"limited, a crash counted": {Limited, "sent p1 q\n delivered p1 q\n crash\n delivered p1 q again count=1\n acked p1 q",
			[]string{"count 1 after 0 returns: p#1 in q"}},
		"limited, beyond the limit": {Limited, died + "delivered p1 q again count=4\n acked p1 q",
			[]string{"delivered after coming back 4 times: p#1 in q"}},

		"grouped, one after the other": {Grouped, `
			sent p1 q key=a
			sent p2 q key=a
			delivered p1 q key=a by=x
			acked p1 q
			delivered p2 q key=a by=y
			acked p2 q`, nil},
		"grouped, two holders": {Grouped, `
			sent p1 q key=a
			sent p2 q key=a
			delivered p1 q key=a by=x
			delivered p2 q key=a by=y
			acked p1 q
			acked p2 q`, []string{"y got p#2 in q while x had messages of its key"}},
		"grouped, handed on before the commit": {Grouped, `
			sent p1 q key=a
			sent p2 q key=a
			delivered p1 q key=a by=x
			acked p1 q tx=1
			delivered p2 q key=a by=y
			acked p2 q
			commit tx=1`, []string{"y got p#2 in q while x had messages of its key"}},
		"grouped, out of order": {Grouped, `
			sent p1 q key=a
			sent p2 q key=a
			delivered p2 q key=a by=x
			acked p2 q
			crash
			delivered p1 q again key=a by=y
			acked p1 q`, []string{"first delivered after #2 of its publisher: p#1 in q"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.promises.Check(script(t, c.lines))
			for _, want := range c.want {
				if !slices.Contains(got, want) {
					t.Errorf("breaches %q, want %q", got, want)
				}
			}
			if c.want == nil && got != nil {
				t.Errorf("breaches in a correct run: %q", got)
			}
		})
	}
}

// died is the history of a confirmed message that was returned once too often.
const died = `
	sent p1 q
	confirmed p1
	delivered p1 q
	requeued p1 q
	delivered p1 q again count=1
	requeued p1 q
	delivered p1 q again count=2
	requeued p1 q
	delivered p1 q again count=3
	requeued p1 q
`
