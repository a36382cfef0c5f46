package history

import (
	"slices"
	"testing"
)

// TestCheckSQL checks runs of the SQL protocol. Those that are correct want no breach, and the
// others have a planted bug.
func TestCheckSQL(t *testing.T) {
	const chain = "sent p1 q tx=1\n sent p2 q after=p1 tx=1\n commit tx=1\n committed tx=1\n"
	for name, c := range map[string]struct {
		lines string
		want  []string
	}{
		"one after the other": {chain + `
			delivered p1 q tx=2
			acked p1 q tx=2
			commit tx=2
			delivered p2 q tx=3
			acked p2 q tx=3
			commit tx=3
			committed tx=3
			committed tx=2`, nil},
		"both in one transaction, which is rolled back": {chain + `
			delivered p1 q tx=2
			delivered p2 q tx=2
			requeued p1 q
			requeued p2 q
			rollback tx=2
			delivered p1 q tx=3
			delivered p2 q tx=3
			acked p1 q tx=3
			acked p2 q tx=3
			commit tx=3
			committed tx=3`, nil},
		"seen in order, and all of it forgotten in the crash": {chain + `
			delivered p1 q tx=2
			acked p1 q tx=2
			commit tx=2
			delivered p2 q tx=3
			crash
			delivered p1 q tx=4
			delivered p2 q tx=4
			acked p1 q tx=4
			acked p2 q tx=4
			commit tx=4
			committed tx=4`, nil},
		"the second is asked for by its name": {chain + `
			delivered p2 q byname tx=2
			delivered p1 q tx=2
			acked p2 q tx=2
			acked p1 q tx=2
			commit tx=2
			committed tx=2`, nil},
		"the second comes first": {chain + `
			delivered p2 q tx=2
			acked p2 q tx=2
			commit tx=2
			committed tx=2
			delivered p1 q tx=3
			acked p1 q tx=3
			commit tx=3
			committed tx=3`, []string{"delivered in tx 2 while p#1 in q was there: p#2 in q"}},
		"the second comes while the first is held": {chain + `
			delivered p1 q tx=2
			delivered p2 q tx=3
			acked p1 q tx=2
			commit tx=2
			committed tx=2
			acked p2 q tx=3
			commit tx=3
			committed tx=3`, []string{"delivered in tx 3 while p#1 in q was there: p#2 in q"}},
		"the second comes after a savepoint brought the first back": {chain + `
			delivered p1 q tx=2
			requeued p1 q
			delivered p2 q tx=2
			delivered p1 q tx=2
			acked p2 q tx=2
			acked p1 q tx=2
			commit tx=2
			committed tx=2`, []string{"delivered in tx 2 while p#1 in q was there: p#2 in q"}},
		"the second comes after a crash that brought the first back": {chain + `
			delivered p1 q tx=2
			acked p1 q tx=2
			commit tx=2
			crash
			delivered p2 q tx=3
			delivered p1 q tx=4
			acked p1 q tx=4
			commit tx=4
			committed tx=4
			acked p2 q tx=3
			commit tx=3
			committed tx=3`, []string{"delivered in tx 3 while p#1 in q was there: p#2 in q"}},
		"posted, and what it was made of came back": {`
			sent p1 q tx=1
			commit tx=1
			committed tx=1
			delivered p1 q tx=2
			acked p1 q tx=2
			sent p2 q tx=2
			commit tx=2
			crash
			delivered p1 q tx=3
			delivered p2 q tx=3
			acked p1 q tx=3
			acked p2 q tx=3
			commit tx=3
			committed tx=3`, []string{"tx 2 half applied: 1 of its messages came, and 1 that it consumed came back"}},
		"a name given twice": {"named p1 key=q.1\n named p2 key=q.1", []string{"name q.1 given to p#1 and to p#2"}},
		"a name changed": {"named p1 key=q.1\n sent p1 q tx=1\n commit tx=1\n committed tx=1\n delivered p1 q key=q.2 tx=2\n acked p1 q tx=2\n commit tx=2",
			[]string{"p#1 was named q.1 and came as q.2"}},
		"a copy with the name of the message": {`
			named p1 key=q.1
			sent p1 q tx=1
			sent p1 q2 tx=1 copy
			commit tx=1
			committed tx=1
			delivered p1 q key=q.1 tx=2
			delivered p1 q2 key=q.1 tx=2
			acked p1 q tx=2
			acked p1 q2 tx=2
			commit tx=2`, []string{"name q.1 given to p#1 and to p#1 in q2"}},
		"a copy whose name changes": {`
			sent p1 q tx=1
			sent p1 q2 tx=1 copy
			commit tx=1
			committed tx=1
			delivered p1 q tx=2
			acked p1 q tx=2
			delivered p1 q2 key=q2.1 tx=2
			requeued p1 q2
			delivered p1 q2 key=q2.2 tx=2
			acked p1 q2 tx=2
			commit tx=2`, []string{"p#1 in q2 was named q2.1 and came as q2.2"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := SQL.Check(script(t, c.lines)); !slices.Equal(got, c.want) {
				t.Errorf("breaches %q, want %q", got, c.want)
			}
		})
	}
}
