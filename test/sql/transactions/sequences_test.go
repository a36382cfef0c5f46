package transactions

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/seeded"
	"fiveways.dev/fiveways/test/sql/sides"
)

// statements are the statements of sequences. Common statements occur more often.
var statements = strings.Split(strings.TrimSpace(`
begin
begin
begin
start transaction
begin isolation level repeatable read
begin read only
start transaction isolation level serializable, read only
commit
commit
end
rollback
rollback
abort
commit and chain
rollback and chain
savepoint a
savepoint a
savepoint b
release a
release b
rollback to a
rollback to a
rollback to savepoint b
select 1
select 1
select 1/0
select 1/0
select nothing
selec 1
show transaction_isolation
show transaction_read_only
show transaction_deferrable
set local statement_timeout = 60001
set local statement_timeout = '7min'
set statement_timeout = '90s'
set statement_timeout to default
reset statement_timeout
show statement_timeout
show statement_timeout
set statement_timeout = 'soon'
set transaction read only
set transaction read write
set transaction isolation level serializable
set session characteristics as transaction isolation level repeatable read
set default_transaction_isolation to default
set transaction_isolation = 'read committed'
set datestyle = german
set datestyle = 'iso, mdy'
show datestyle
set my.own = 'x'
set local my.own = 'y'
show my.own
select current_setting('my.own', true)
select set_config('my.own', 'z', true)
declare c no scroll cursor for values (1), (2), (3), (4), (5)
declare c scroll cursor for values (1), (2), (3), (4), (5)
declare c scroll cursor with hold for values (1), (2), (3), (4), (5)
declare d no scroll cursor with hold for values (1), (2), (3)
fetch c
fetch 2 from c
fetch all c
fetch backward 2 from c
fetch first from c
fetch last from c
fetch prior from c
fetch absolute 3 from c
fetch absolute -2 from c
fetch relative -1 from c
fetch relative 2 from c
fetch relative 0 from c
fetch 0 from c
move 2 in c
move backward all in c
fetch d
move all in d
fetch 2 from d
close c
close d
close all
prepare p as select 2
prepare q(int) as select $1 + 1
execute p
execute q(3)
execute q('7')
execute q('x')
execute q
deallocate p
deallocate q
deallocate all
discard all
discard plans
`), "\n")

// message is one simple query of several statements, or several extended-protocol statements up to
// a Sync.
type message struct {
	extended   bool
	statements []string
}

func (m message) String() string {
	if m.extended {
		return "extended: " + strings.Join(m.statements, " | ")
	}
	return "simple: " + strings.Join(m.statements, "; ")
}

func randomMessage(rng *rand.Rand) message {
	m := message{extended: rng.IntN(4) == 0}
	n := 1
	if rng.IntN(4) == 0 {
		n += rng.IntN(4)
	}
	for range n {
		m.statements = append(m.statements, statements[rng.IntN(len(statements))])
	}
	return m
}

// TestSequences sends the same messages to both servers. TRANSACTIONS is the number of sequences,
// and TRANSACTIONS_SEED selects them.
func TestSequences(t *testing.T) {
	_, dsn := sides.Start(t, "")
	sequences, rng := seeded.Cases(t, "TRANSACTIONS", 150, 7)
	for i := range sequences {
		real := &real{t, sides.Hijack(t, sides.Connect(t, dsn))}
		ours := newSession()
		var history []string
		for range 25 {
			m := randomMessage(rng)
			want, got := real.send(m), ours.send(m)
			history = append(history, fmt.Sprintf("%s\n\t%s", m, strings.ReplaceAll(want, "\n", "\n\t")))
			if got != want {
				t.Fatalf("sequence %d:\n%s\nours:\n\t%s", i, strings.Join(history, "\n"), strings.ReplaceAll(got, "\n", "\n\t"))
			}
		}
		real.close()
		ours.close()
	}
}
