package sessions

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"fiveways.dev/fiveways/test/brokertest"
)

const (
	soon    = 5 * time.Second // far longer than an immediate action takes on a busy machine
	patient = time.Minute
)

func TestMain(m *testing.M) { brokertest.Main(m) }

func url(b *brokertest.Broker) string {
	return "postgres://guest@" + b.SQLAddr() + "/fiveways?sslmode=disable"
}

func dial(t *testing.T, b *brokertest.Broker) *pgconn.PgConn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	c, err := pgconn.Connect(ctx, url(b))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Conn().Close() })
	return c
}

// ask returns the values of the last result that has rows, joined by blanks.
func ask(t *testing.T, c *pgconn.PgConn, statements string) string {
	t.Helper()
	text, err := try(t, c, statements)
	if err != nil {
		t.Fatalf("%s: %v", statements, err)
	}
	return text
}

func try(t *testing.T, c *pgconn.PgConn, statements string) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	results, err := c.Exec(ctx, statements).ReadAll()
	var values []string
	for _, r := range results {
		if len(r.Rows) > 0 {
			values = nil
		}
		for _, row := range r.Rows {
			for _, v := range row {
				values = append(values, string(v))
			}
		}
	}
	return strings.Join(values, " "), err
}

// reset closes a connection so that the other side gets a TCP reset.
func reset(c *pgconn.PgConn) {
	c.Conn().(*net.TCPConn).SetLinger(0)
	c.Conn().Close()
}

// within fails the test unless fn returns "" within the limit. Its last result is the error.
func within(t *testing.T, limit time.Duration, fn func() string) {
	t.Helper()
	for end := time.Now().Add(limit); ; {
		problem := fn()
		if problem == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after %s: %s", limit, problem)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// wantMessages fails unless exactly these messages are free. It consumes them and rolls back.
func wantMessages(t *testing.T, c *pgconn.PgConn, queue, want string) {
	t.Helper()
	within(t, soon, func() string {
		got := ask(t, c, fmt.Sprintf("begin; select data->'n' from mbus4.consumen_%s_by_default(100); rollback", queue))
		if got == want {
			return ""
		}
		return fmt.Sprintf("%s has %q, want %q", queue, got, want)
	})
}

// TestResetGivesBack checks that when a session's connection is cut, whatever it was doing, the
// messages that it held are back in their places at once.
func TestResetGivesBack(t *testing.T) {
	b := brokertest.Run(t, "--sql", "127.0.0.1:0")
	other := dial(t, b)
	ask(t, other, "select mbus4.create_queue('q', 2), mbus4.create_queue('p', 2)")
	ask(t, other, "select mbus4.post('q', hstore('n', i::text), iid := 'q.x' || i) from generate_series(1, 3) i")
	for name, state := range map[string]struct {
		last string // statements
		ends bool   // they are answered before the connection is cut
		free string
	}{
		"idle":          {"", true, "3"},
		"failed":        {"select 1/0", true, "2 3"}, // its transaction has failed, not ended
		"in savepoint":  {"savepoint s; select * from mbus4.consume('q')", true, ""},
		"running":       {"select pg_sleep(60)", false, "3"},
		"waits to take": {"select (mbus4.take('q.x1')).iid", false, "3"},
		"writing":       {"select repeat('x', 1000) from generate_series(1, 1000000)", false, "3"},
	} {
		t.Run(name, func(t *testing.T) {
			holder := dial(t, b)
			ask(t, holder, "begin; select * from mbus4.consume('q')") // q.x1
			c := dial(t, b)
			ask(t, c, "begin; select * from mbus4.consume('q'); select mbus4.post('p', 'n=>1')")
			// wantMessages holds the free messages for a moment, in which a consume would find
			// nothing.
			if state.ends {
				try(t, c, state.last) //nolint:errcheck // one of them must fail
			} else {
				c.Conn().Write(query(state.last))
			}
			wantMessages(t, other, "q", state.free)
			reset(c)
			wantMessages(t, other, "q", "2 3")
			reset(holder)
			wantMessages(t, other, "q", "1 2 3")
			wantMessages(t, other, "p", "")
		})
	}
}

// query returns the bytes of a simple query.
func query(text string) []byte {
	n := len(text) + 5
	return append(append([]byte{'Q', byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, text...), 0)
}

// TestDeafSessions checks that sessions that request more than fits into memory and do not read it
// use little memory and block no other session.
func TestDeafSessions(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip(err)
	}
	const (
		deaf   = 40
		kib    = 20_000 // in the queue
		growth = 200 << 20
	)
	b := brokertest.Run(t, "--sql", "127.0.0.1:0", "--sync", "os")
	other := dial(t, b)
	ask(t, other, "select mbus4.create_queue('big', 2), mbus4.create_queue('q', 2)")
	ask(t, other, fmt.Sprintf("select count(mbus4.post('big', hstore('n', repeat('x', 1024)))) from generate_series(1, %d)", kib))
	before, err := b.RSS()
	if err != nil {
		t.Fatal(err)
	}
	for n := range deaf {
		c := dial(t, b)
		text := "select repeat('x', 1000) from generate_series(1, 100000000)"
		if n%2 == 0 {
			text = "select data from mbus4.messages('big')"
		}
		if _, err := c.Conn().Write(query(text)); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 200 {
		start := time.Now()
		ask(t, other, fmt.Sprintf("select mbus4.post('q', 'n=>%d')", n))
		if got := ask(t, other, "select data->'n' from mbus4.consume('q')"); got != fmt.Sprint(n) {
			t.Fatalf("got %q, want %d", got, n)
		}
		if took := time.Since(start); took > soon {
			t.Fatalf("others wait %s", took)
		}
	}
	ask(t, other, "select count(*) from mbus4.consumen_big_by_default(1000)") // what they request
	peak, err := b.PeakRSS()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MiB before, %d MiB at most", before>>20, peak>>20)
	if peak-before > growth {
		t.Errorf("grown by %d MiB", (peak-before)>>20)
	}
}

// TestIdleTransactionEnds checks that a session that is idle in a transaction for too long gets an
// error and is rolled back, and that others are not affected.
func TestIdleTransactionEnds(t *testing.T) {
	b := brokertest.Run(t, "--sql", "127.0.0.1:0", "--sql-idle-transaction-timeout", "300ms")
	other := dial(t, b)
	ask(t, other, "select mbus4.create_queue('q', 2), mbus4.create_queue('p', 2); select mbus4.post('q', 'n=>1'), mbus4.post('q', 'n=>2')")
	idle, allowed := dial(t, b), dial(t, b)
	ask(t, allowed, "set idle_in_transaction_session_timeout = 0; begin; select * from mbus4.consume('q')")
	ask(t, idle, "begin; select * from mbus4.consume('q'); select mbus4.post('p', 'n=>1')")
	wantMessages(t, other, "q", "2")
	_, err := try(t, idle, "commit")
	if !isState(err, "25P03") {
		t.Errorf("commit says %v", err)
	}
	wantMessages(t, other, "p", "")
	ask(t, allowed, "commit")
	wantMessages(t, other, "q", "2")
}

// TestStopWithOpenTransactions checks that a stop waits for running transactions, rolls back those
// that do not end, and counts as a clean stop.
func TestStopWithOpenTransactions(t *testing.T) {
	dir := t.TempDir()
	run := func() *brokertest.Broker {
		b, err := brokertest.Start(t.Context(), dir, "--sql", "127.0.0.1:0", "--drain-timeout", "6s")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Kill)
		return b
	}
	b := run()
	setup := dial(t, b)
	ask(t, setup, "select mbus4.create_queue('q', 9), mbus4.create_queue('p', 9)")
	ask(t, setup, "select mbus4.post('q', hstore('n', i::text), iid := 'q.x' || i) from generate_series(1, 6) i")
	begin := func(n int) *pgconn.PgConn {
		c := dial(t, b)
		ask(t, c, fmt.Sprintf("begin; select * from mbus4.consume('q'); select mbus4.post('p', 'n=>%d')", n))
		return c
	}
	commits, stays, fails, waits, deaf := begin(1), begin(2), begin(3), begin(4), begin(5)
	try(t, fails, "select 1/0")
	waits.Conn().Write(query("select (mbus4.take('q.x2')).iid"))
	deaf.Conn().Write(query("select repeat('x', 1000) from generate_series(1, 100000000)"))
	stopped := make(chan error, 1)
	start := time.Now()
	go func() { stopped <- b.Stop() }()
	if _, err := setup.Conn().Read(make([]byte, 1)); err != nil { // idle: it is told at once
		t.Errorf("an idle session is told nothing: %v", err)
	}
	if _, err := try(t, commits, "select 1; commit"); err != nil {
		t.Errorf("who was in a transaction cannot end it: %v", err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	t.Logf("stopped in %s", time.Since(start))
	if _, err := try(t, stays, "commit"); err == nil {
		t.Error("a transaction was committed after the end")
	}

	b = run()
	other := dial(t, b)
	wantMessages(t, other, "q", "2 3 4 5 6")
	wantMessages(t, other, "p", "1")
}

func isState(err error, code string) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == code
}
