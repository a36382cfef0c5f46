package drivers

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"fiveways.dev/fiveways/test/brokertest"
)

// The number of sessions that a broker must support.
const (
	crowd         = 1000
	crowdRSS      = 150 << 20 // resident bytes of the process
	settlePoll    = 100 * time.Millisecond
	settlePatient = 15 * time.Second
)

// TestCrowdIdleInTransactions checks that when many sessions hold one message each and do nothing,
// the broker's memory stays small and others continue to work, and that all messages are back when
// the sessions have gone.
func TestCrowdIdleInTransactions(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip(err)
	}
	b := brokertest.Run(t, "--sql", "127.0.0.1:0", "--sync", "os")
	url := "postgres://guest@" + b.SQLAddr() + "/fiveways?sslmode=disable"
	other := dial(t, url)
	ask(t, other, fmt.Sprintf("select mbus4.create_queue('crowd', %d)", crowd))
	ask(t, other, fmt.Sprintf("select mbus4.post('crowd', hstore('n', i::text)) from generate_series(1, %d) i", crowd))
	var sessions []*pgconn.PgConn
	for range crowd {
		c := dial(t, url)
		ask(t, c, "begin")
		got := c.ExecParams(t.Context(), "select * from mbus4.consume($1)", [][]byte{[]byte("crowd")}, nil, nil, nil).Read()
		if got.Err != nil || len(got.Rows) != 1 {
			t.Fatalf("%d rows, %v", len(got.Rows), got.Err)
		}
		sessions = append(sessions, c)
	}
	if got := ask(t, other, "select count(*) from mbus4.consume('crowd')"); got != "0" {
		t.Errorf("%s messages are free", got)
	}
	ask(t, other, "select mbus4.create_queue('free', 1); select mbus4.post('free', 'a=>1')")
	if got := ask(t, other, "select data->'a' from mbus4.consume('free')"); got != "1" {
		t.Errorf("others consume %q", got)
	}
	rss := int64(0)
	for end := time.Now().Add(settlePatient); ; { // memory used for the start and for the new sessions is released
		var err error
		if rss, err = b.RSS(); err != nil {
			t.Fatal(err)
		}
		if rss <= crowdRSS || time.Now().After(end) {
			break
		}
		<-time.After(settlePoll)
	}
	t.Logf("%d MiB with %d sessions", rss>>20, crowd)
	if rss > crowdRSS {
		t.Errorf("%d MiB, want %d at most", rss>>20, int64(crowdRSS)>>20)
	}
	for _, c := range sessions {
		c.Conn().Close() // abruptly
	}
	for end := time.Now().Add(settlePatient); ; {
		if got := ask(t, other, "select count(*) from mbus4.messages('crowd')"); got == fmt.Sprint(crowd) && ask(t, other,
			fmt.Sprintf("begin; select count(*) from mbus4.consumen_crowd_by_default(%d); rollback", 2*crowd)) == fmt.Sprint(crowd) {
			break
		} else if time.Now().After(end) {
			t.Fatalf("%s messages are there again", got)
		}
	}
}

func dial(t *testing.T, url string) *pgconn.PgConn {
	t.Helper()
	c, err := pgconn.Connect(t.Context(), url)
	must(t, err)
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// ask returns the first value of the last result that has rows.
func ask(t *testing.T, c *pgconn.PgConn, statements string) (value string) {
	t.Helper()
	results, err := c.Exec(t.Context(), statements).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", statements, err)
	}
	for _, r := range results {
		if len(r.Rows) > 0 {
			value = string(r.Rows[0][0])
		}
	}
	return value
}
