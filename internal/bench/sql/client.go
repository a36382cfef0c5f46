package sql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"fiveways.dev/fiveways/internal/bench/latency"
)

// client is a connection with its measurements.
type client struct {
	conn       *pgconn.PgConn
	prepared   map[string]bool
	texts      map[string]string
	operations uint64
	messages   uint64
	latency    latency.Histogram
}

func connect(ctx context.Context, o Options, texts map[string]string) (*client, error) {
	conn, err := pgconn.Connect(ctx, o.URL)
	if err != nil {
		return nil, fmt.Errorf("sql bench: %w", err)
	}
	return &client{conn: conn, prepared: map[string]bool{}, texts: texts}, nil
}

// run runs a prepared statement and returns the number of its rows. It has no context, which would
// cost a goroutine per call. To interrupt it, close the socket.
func (k *client) run(statement string, args ...string) (rows int, err error) {
	ctx := context.Background()
	if err := k.prepare(statement); err != nil {
		return 0, err
	}
	var values [][]byte
	for _, a := range args {
		values = append(values, []byte(a))
	}
	r := k.conn.ExecPrepared(ctx, statement, values, nil, nil)
	for r.NextRow() {
		rows++
	}
	_, err = r.Close()
	return rows, err
}

// drive repeats a load until the deadline, or until the queue is empty.
func (k *client) drive(ctx context.Context, l load, deadline time.Time) error {
	defer context.AfterFunc(ctx, func() { k.conn.Conn().Close() })()
	for before := time.Now(); before.Before(deadline); {
		n, err := l.do(k)
		if errors.Is(err, errDrained) {
			return nil
		}
		if err != nil {
			return errors.Join(ctx.Err(), err)
		}
		now := time.Now()
		k.latency.Record(now.Sub(before))
		k.operations++
		k.messages += uint64(n)
		before = now
	}
	return nil
}

// prepare prepares a statement, unless that has been done before.
func (k *client) prepare(statement string) error {
	if k.prepared[statement] {
		return nil
	}
	if _, err := k.conn.Prepare(context.Background(), statement, k.texts[statement], nil); err != nil {
		return fmt.Errorf("sql bench: %s: %w", statement, err)
	}
	k.prepared[statement] = true
	return nil
}

func (k *client) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	k.conn.Close(ctx) //nolint:errcheck // nothing is pending
}

// closePatience is how long closing a connection gracefully may take.
const closePatience = time.Second
