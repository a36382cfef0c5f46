package pgwire

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"fiveways.dev/fiveways/internal/core/catalog"
)

const (
	shutdown = "E FATAL 57P01 terminating connection due to administrator command"
	canceled = "E ERROR 57014 canceling statement due to user request"
)

// cancel sends a cancel request and waits until the server has read it.
func (n *node) cancel(pid uint32, key []byte) {
	n.t.Helper()
	c := n.dial()
	b := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 16, 4, 210, 22, 46}, pid)
	c.write(append(b, key...))
	c.expect("gone")
}

func TestCancel(t *testing.T) {
	n := startNode(t, Options{})
	c := n.login()
	n.cancel(c.pid, c.key) // nothing is running: no effect
	c.query("rows 1", `T n:23:0 / D "1" / C SELECT 1 / Z I`)

	c.send(&pgproto3.Query{String: "rows 1; wait; rows 1"})
	<-n.lastFake().waiting
	n.cancel(c.pid, []byte("none"))
	n.cancel(c.pid+1, c.key)
	n.cancel(c.pid, c.key)
	c.expect(`T n:23:0 / D "1" / C SELECT 1 / ` + canceled + " / Z I")
	c.query("rows 1", `T n:23:0 / D "1" / C SELECT 1 / Z I`)

	c.send(&pgproto3.Parse{Query: "wait"}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Execute{}, sync_)
	<-n.lastFake().waiting
	n.cancel(c.pid, c.key)
	c.expect("1 / 2 / " + canceled + " / Z I")
	c.query("rows 1", `T n:23:0 / D "1" / C SELECT 1 / Z I`)
}

// TestDrain: an idle session ends at once, a session in a transaction ends with the transaction,
// and a session whose transaction stays open is ended shortly before the deadline.
func TestDrain(t *testing.T) {
	n := startNode(t, Options{})
	idle, busy, stuck, waits, login := n.login(), n.login(), n.login(), n.login(), n.dial()
	waiting := n.lastFake().waiting
	busy.query("begin", "C BEGIN / Z T")
	stuck.query("begin", "C BEGIN / Z T")
	waits.send(&pgproto3.Query{String: "wait"})
	<-waiting
	drained := make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	go func() { drained <- n.s.Drain(ctx) }()
	idle.expect(shutdown + " / gone")
	busy.query("rows 1", `T n:23:0 / D "1" / C SELECT 1 / Z T`)
	busy.query("rows 1", `T n:23:0 / D "1" / C SELECT 1 / Z T`)
	busy.query("commit", "C COMMIT / Z I / "+shutdown+" / gone")
	stuck.expect(shutdown + " / gone")
	waits.expect(shutdown + " / gone")
	login.nc.Close()
	if err := <-drained; err != nil {
		t.Error(err)
	}
}

func TestDrainByForce(t *testing.T) {
	n := startNode(t, Options{})
	c := n.login()
	c.send(&pgproto3.Query{String: "wait"})
	<-n.lastFake().waiting
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := n.s.Drain(ctx); err == nil {
		t.Error("nothing was closed by force")
	}
	c.until("gone")
}

// TestEviction: the engine ends the sessions of a deleted user or virtual host.
func TestEviction(t *testing.T) {
	n := startNode(t, Options{})
	idle, open, waits := n.login(), n.login(), n.login()
	open.query("begin", "C BEGIN / Z T")
	waits.send(&pgproto3.Query{String: "wait"})
	<-n.lastFake().waiting
	if err := n.b.DeleteUser("guest"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*client{idle, open, waits} {
		c.expect(shutdown + " | the user was deleted / gone")
	}
}

// TestEvictionOfTheDeaf: a client that does not read can be evicted too, and the messages that it
// held are released.
func TestEvictionOfTheDeaf(t *testing.T) {
	n := startRealNode(t, Options{})
	deaf := n.login()
	deaf.query("begin", "C BEGIN / Z T")
	deaf.send(&pgproto3.Query{String: "select repeat('x', 1000) from generate_series(1, 1000000000)"})
	deaf.expect("T repeat:25:0")
	if err := n.b.DeleteUser("guest"); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); n.s.Connections() > 0; {
		if time.Now().After(end) {
			t.Fatal("it is still there")
		}
		<-time.After(time.Millisecond)
	}
}

func TestIdleInTransaction(t *testing.T) {
	const limit = time.Second
	synctest.Test(t, func(t *testing.T) {
		n := bubbleNode(t, Options{IdleTransactionTimeout: limit})
		for begin, answer := range map[string]string{"begin": "C BEGIN / Z T", "begin; fail": "C BEGIN / " + divisionFails + " / Z E"} {
			c := n.login()
			begun := time.Now()
			c.query(begin, answer)
			c.expect("E FATAL 25P03 terminating connection due to idle-in-transaction timeout / gone")
			if d := time.Since(begun); d != limit {
				t.Errorf("%s: ended after %v", begin, d)
			}
		}
		c := n.login() // outside of a transaction there is no limit, and the timer stops with the transaction
		for range 3 {
			c.query("begin", "C BEGIN / Z T")
			time.Sleep(limit / 2)
			c.query("commit", "C COMMIT / Z I")
		}
		time.Sleep(2 * limit)
		c.query("rows 1", `T n:23:0 / D "1" / C SELECT 1 / Z I`)
	})
}

// TestPanicEndsOneConnection: a panic ends one connection, whose client is told, and does not
// affect other connections.
func TestPanicEndsOneConnection(t *testing.T) {
	n := startNode(t, Options{})
	other, c := n.login(), n.login()
	c.send(&pgproto3.Query{String: "rows 1; panic"})
	if got := c.until("gone"); !strings.HasSuffix(got, "E FATAL XX000 internal error / gone") {
		t.Error(got)
	}
	other.query("rows 1", `T n:23:0 / D "1" / C SELECT 1 / Z I`)
	for _, part := range []string{"a connection failed", "out of luck", "fake_test.go", "peer=127.0.0.1:"} {
		if !strings.Contains(n.log.String(), part) {
			t.Errorf("no %q in the log", part)
		}
	}
}

// TestSlowLogin: a client that sends nothing is disconnected.
func TestSlowLogin(t *testing.T) {
	const limit = time.Second
	synctest.Test(t, func(t *testing.T) {
		n := bubbleNode(t, Options{LoginTimeout: limit})
		if _, err := n.b.PutUser(userSpec); err != nil {
			t.Fatal(err)
		}
		for name, begin := range map[string]func(c *client) (want string){
			"says nothing": func(*client) string { return "gone" },
			"says little":  func(c *client) string { c.write([]byte{0, 0}); return "gone" },
			"stops in its login": func(c *client) string {
				c.start(protocol3, "user", "u", "database", "fiveways")
				return "R sasl SCRAM-SHA-256 / gone"
			},
		} {
			begun := time.Now()
			c := n.dial()
			c.expect(begin(c))
			if d := time.Since(begun); d != limit {
				t.Errorf("a client that %s: ended after %v", name, d)
			}
		}
		c := n.login()
		time.Sleep(2 * limit)
		c.query("rows 1", `T n:23:0 / D "1" / C SELECT 1 / Z I`)
	})
}

// TestClientsThatVanish checks that clients that disconnect at any point leave nothing behind;
// startNode verifies that.
func TestClientsThatVanish(t *testing.T) {
	n := startNode(t, Options{})
	for i, send := range []pgproto3.FrontendMessage{
		&pgproto3.Query{String: "begin"}, &pgproto3.Query{String: "big 50000000"}, &pgproto3.Parse{Name: "s", Query: "rows 1"}, sync_,
	} {
		c := n.login()
		c.send(send)
		if i == 0 {
			c.until("Z")
		}
		c.nc.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := n.s.Drain(ctx); err != nil {
		t.Error(err)
	}
}

// TestSignals: one session cancels and terminates another with functions.
func TestSignals(t *testing.T) {
	n := startRealNode(t, Options{})
	n.user(catalog.UserSpec{Name: "u", Password: "secret"})
	one, two := n.login(), n.login()
	two.send(&pgproto3.Query{String: "select pg_sleep(60)"})
	for canceled := false; !canceled; { // it may not have begun yet
		one.send(&pgproto3.Query{String: fmt.Sprintf("select pg_cancel_backend(%d)", two.pid)})
		if got := one.until("Z"); !strings.Contains(got, `D "t"`) {
			t.Fatal(got)
		}
		two.nc.SetReadDeadline(time.Now().Add(50 * time.Millisecond)) //nolint:errcheck // a socket of ours
		if m, err := two.f.Receive(); err == nil {
			_, isRow := m.(*pgproto3.RowDescription)
			canceled = !isRow
		}
	}
	two.nc.SetReadDeadline(time.Now().Add(patience)) //nolint:errcheck // a socket of ours
	two.until("Z")
	one.query("select pg_cancel_backend(1000000)", "T pg_cancel_backend:16:0 / N WARNING 01000 PID 1000000 is not a PostgreSQL server process / "+
		`D "f" / C SELECT 1 / Z I`)
	other, err := n.connect("u", "secret")
	if err != nil {
		t.Fatal(err)
	}
	for function, told := range map[string]string{"pg_cancel_backend": "query is being canceled", "pg_terminate_backend": "process is being terminated"} {
		_, err := other.Exec(context.Background(), fmt.Sprintf("select %s(%d)", function, two.pid)).ReadAll()
		if err == nil || !strings.Contains(err.Error(), told) {
			t.Errorf("%s by another user: %v", function, err)
		}
	}
	one.query(fmt.Sprintf("select pg_terminate_backend(%d)", two.pid), `T pg_terminate_backend:16:0 / D "t" / C SELECT 1 / Z I`)
	two.expect(shutdown + " / gone")
}

// TestStatementOfAClientThatLeft: the statement is canceled when its client disconnects, because
// its result could not be delivered.
func TestStatementOfAClientThatLeft(t *testing.T) {
	n := startNode(t, Options{})
	c := n.login()
	c.send(&pgproto3.Query{String: "wait"})
	<-n.lastFake().waiting
	c.nc.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := n.s.Edge.Drain(ctx); err != nil {
		t.Error(err)
	}
}

// TestPipelining: many messages in one write are answered in order.
func TestPipelining(t *testing.T) {
	c := startNode(t, Options{}).login()
	var ms []pgproto3.FrontendMessage
	want := ""
	for i := range 500 {
		ms = append(ms, &pgproto3.Parse{Query: fmt.Sprint("notice n", i)}, &pgproto3.Bind{}, &pgproto3.Execute{})
		want += fmt.Sprint("1 / 2 / N NOTICE 00000 n", i, " / C NOTICE / ")
		if i%7 == 0 {
			ms = append(ms, sync_)
			want += "Z I / "
		}
	}
	c.send(append(ms, sync_)...)
	c.expect(want + "Z I")
}

// TestAbandon: all clients receive 57P01 and nothing else, whatever they do. It replaces answers
// that are not sent yet.
func TestAbandon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := bubbleNode(t, Options{})
		idle, open, waits := n.login(), n.login(), n.login()
		waiting := n.lastFake().waiting
		deaf, stranger := n.login(), n.dial()
		open.query("begin", "C BEGIN / Z T")
		waits.send(&pgproto3.Query{String: "rows 1; wait; rows 1"})
		<-waiting
		deaf.send(&pgproto3.Query{String: "big 50000000"})
		synctest.Wait()
		begun := time.Now()
		n.s.Abandon()
		for _, c := range []*client{idle, open, waits} {
			c.expect(shutdown + " / gone")
		}
		stranger.expect("gone")
		n.dial().expect("gone")
		synctest.Wait()
		if d := time.Since(begun); d != 0 {
			t.Errorf("that took %v", d)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if open := n.s.Connections(); open != 0 {
			t.Errorf("%d connections are open", open)
		}
	})
}
