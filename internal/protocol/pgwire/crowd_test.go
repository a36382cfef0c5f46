package pgwire

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// crowd is the number of connections that open and close transactions concurrently.
const crowd = 200

// TestCrowd runs many connections that connect, work and disconnect in every way, for one second or
// PGWIRE_CROWD seconds. The race detector finds state that is wrongly shared. No message may be
// lost or duplicated.
func TestCrowd(t *testing.T) {
	seconds, err := strconv.Atoi(os.Getenv("PGWIRE_CROWD"))
	if err != nil {
		seconds = 1
	}
	n := startRealNode(t, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seconds)*time.Second+6*patience)
	defer cancel()
	setup := &visitor{addr: n.addr}
	const messages = 400
	if err := setup.come(ctx); err != nil {
		t.Fatal(err)
	}
	if err := setup.say(ctx, fmt.Sprintf(`select mbus4.create_queue('a', 2), mbus4.create_queue('b', 2);
		select mbus4.create_consumer('a', 'other', null);
		select mbus4.post('b', hstore('n', i::text)) from generate_series(1, %d) i`, messages)); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	var working sync.WaitGroup
	var count atomic.Int64
	for i := range crowd {
		working.Go(func() {
			v := &visitor{addr: n.addr, rng: rand.New(rand.NewPCG(1, uint64(i)))}
			for time.Now().Before(end) {
				if err := v.visit(ctx, end); err != nil {
					t.Errorf("visitor %d: %v", i, err)
					return
				}
				count.Add(int64(v.transactions))
			}
		})
	}
	working.Wait()
	t.Logf("%d transactions", count.Load())
	for deadline := time.Now().Add(patience); n.s.Connections() > 1 && time.Now().Before(deadline); { // clients that disconnected without Terminate
		<-time.After(time.Millisecond)
	}
	if err := setup.say(ctx, "select count(distinct data->'n') || ' ' || count(*) from mbus4.consumen_b_by_default(100000)"); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprint(messages, " ", messages); setup.answer != want {
		t.Errorf("distinct messages and messages: %s, want %s", setup.answer, want)
	}
}

// visitor is a client that connects and disconnects repeatedly.
type visitor struct {
	addr         string
	rng          *rand.Rand
	conn         *pgconn.PgConn
	answer       string // the first value of the last row
	transactions int
}

func (v *visitor) come(ctx context.Context) (err error) {
	v.conn, err = pgconn.Connect(ctx, "postgres://guest@"+v.addr+"/fiveways?sslmode=disable")
	return err
}

// say sends a simple query and reads the whole answer.
func (v *visitor) say(ctx context.Context, statements string) error {
	results, err := v.conn.Exec(ctx, statements).ReadAll()
	for _, r := range results {
		if len(r.Rows) > 0 {
			v.answer = string(r.Rows[len(r.Rows)-1][0])
		}
	}
	return err
}

// visit opens a connection and runs some transactions. Whatever else they do, they move messages
// from b to b.
func (v *visitor) visit(ctx context.Context, end time.Time) error {
	if err := v.come(ctx); err != nil {
		return err
	}
	defer v.conn.Close(ctx)
	for v.transactions = 0; v.transactions < 1+v.rng.IntN(8) && time.Now().Before(end); v.transactions++ {
		if err := v.say(ctx, "begin"); err != nil {
			return err
		}
		for range v.rng.IntN(4) {
			if err := v.work(ctx); err != nil {
				return err
			}
		}
		switch v.rng.IntN(6) {
		case 0:
			v.conn.Conn().(*net.TCPConn).SetLinger(0)
			v.conn.Conn().Close()
			return nil
		case 1, 2:
			if err := v.say(ctx, "rollback"); err != nil {
				return err
			}
		default:
			if err := v.say(ctx, "commit"); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *visitor) work(ctx context.Context) error {
	switch v.rng.IntN(9) {
	case 0:
		return v.say(ctx, "select mbus4.post('a', 'x=>1')")
	case 1:
		return v.say(ctx, "select data from mbus4.consume('a')")
	case 2:
		return v.say(ctx, "select data from mbus4.consume('a', 'other')")
	case 3:
		return v.say(ctx, "savepoint s; select mbus4.post('b', data) from mbus4.consume('b'); rollback to s")
	case 4:
		return v.say(ctx, "select mbus4.post(mbus4.create_temporary_queue(), 'x=>1'); select count(*) from mbus4.messages('a')")
	case 5:
		return v.hurry(ctx)
	}
	return v.say(ctx, "select mbus4.post('b', data) from mbus4.consume('b')")
}

// hurry runs a statement and cancels it at about the time when it completes.
func (v *visitor) hurry(ctx context.Context) error {
	if err := v.say(ctx, "savepoint s"); err != nil {
		return err
	}
	canceled := make(chan struct{})
	go func() {
		defer close(canceled) // the cancel request must not hit a later statement
		<-time.After(time.Millisecond)
		v.conn.CancelRequest(ctx) //nolint:errcheck // the request may come too late
	}()
	err := v.say(ctx, "select pg_sleep(0.002)")
	<-canceled
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code == "57014" {
		return v.say(ctx, "rollback to s")
	}
	return err
}
