package loads

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fiveways.dev/fiveways/test/crash/history"
)

// sqlClient is a program that works in transactions. It exists for all rounds.
type sqlClient struct {
	history *history.Messages
	lastTx  *atomic.Int64
	recent  *recent
	rng     *rand.Rand
	pace    *pace
	name    string
	seq     int

	conn *pgx.Conn
	temp string // the session's temporary queue; "" if it has none

	tx    int
	work  []sqlAct        // the acts of the transaction, as the broker sees them
	temps []history.MsgID // posted to the temporary queue by the transaction
}

// sqlPost is a message that was posted.
type sqlPost struct {
	id     history.MsgID
	iid    string
	queue  string
	after  []history.MsgID
	places []string // where others can receive it
	own    []string // where its own transaction consumed it
}

// sqlAct is one act of the open transaction. Exactly one field is set.
type sqlAct struct {
	post  *sqlPost
	took  *history.Event // Acked of another client's message
	own   *sqlPost       // a post of its own that it consumed, from place
	place string
}

// errDropped is returned when the client itself has closed the connection.
var errDropped = errors.New("dropped")

// run works until the broker is killed. An error before that is returned, and so is every refusal
// except that of a node that can no longer serve.
func (c *sqlClient) run(ctx context.Context, url string, killed *atomic.Bool) error {
	for {
		err := c.session(ctx, url)
		var refused *pgconn.PgError
		switch {
		case errors.Is(err, errDropped):
		case killed.Load() && (isState(err, "57P01") || isState(err, "57P03") || isState(err, "53100")):
			return nil
		case errors.As(err, &refused), errors.Is(err, errDamaged), !killed.Load():
			return fmt.Errorf("%s: %w", c.name, err)
		default:
			return nil
		}
	}
}

// session works on one connection until it ends.
func (c *sqlClient) session(ctx context.Context, url string) (err error) {
	if c.conn, err = pgx.Connect(ctx, url); err != nil {
		return err
	}
	defer reset(c.conn.PgConn().Conn())
	c.temp, c.tx, c.work, c.temps = "", 0, nil, nil
	for {
		c.pace.wait()
		if err := c.transaction(ctx); err != nil {
			return err
		}
	}
}

// setup creates the queues.
func (c *sqlClient) setup(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sqlSetup, pgx.QueryExecModeSimpleProtocol)
	return err
}

// transaction runs one random transaction.
func (c *sqlClient) transaction(ctx context.Context) error {
	if c.rng.IntN(6) == 0 {
		return c.alone(ctx)
	}
	c.tx, c.work, c.temps = int(c.lastTx.Add(1)), nil, nil
	if err := c.exec(ctx, "begin"); err != nil {
		return err
	}
	if c.rng.IntN(8) == 0 {
		if err := c.take(ctx); err != nil {
			return err
		}
	}
	for range 1 + c.rng.IntN(6) {
		if err := c.act(ctx, true); err != nil {
			return err
		}
	}
	switch n := c.rng.IntN(40); {
	case n < 4:
		return c.rollback(ctx, "rollback")
	case n < 6: // an error: the transaction is aborted, so COMMIT answers ROLLBACK
		c.giveBack(0)
		if _, err := c.conn.Exec(ctx, "select 1/0", pgx.QueryExecModeSimpleProtocol); !isState(err, "22012") {
			return fmt.Errorf("1/0 gives %w", err)
		}
		return c.rollback(ctx, "commit")
	case n < 8:
		c.giveBack(0)
		c.history.Add(history.Event{Kind: history.RolledBack, Tx: c.tx})
		return errDropped
	}
	return c.commit(ctx)
}

// act does one random act. savepoints says whether it may open a savepoint.
func (c *sqlClient) act(ctx context.Context, savepoints bool) error {
	switch n := c.rng.IntN(20); {
	case n < 11: // more often than posts
		return c.consume(ctx, c.source(), 1)
	case n < 12:
		return c.consume(ctx, sqlSources[3], 2+c.rng.IntN(4))
	case n < 16:
		return c.post(ctx)
	case n < 17:
		return c.postTemp(ctx)
	case savepoints:
		return c.savepoint(ctx)
	}
	return nil
}

// source picks a random consumer. The first three are twice as likely.
func (c *sqlClient) source() sqlSource {
	return sqlSources[c.rng.IntN(len(sqlSources)+3)%len(sqlSources)]
}

// alone posts outside a transaction block.
func (c *sqlClient) alone(ctx context.Context) error {
	c.tx, c.work, c.temps = int(c.lastTx.Add(1)), nil, nil
	m := c.compose()
	c.history.Add(m.sent(c.tx)...)
	c.history.Add(history.Event{Kind: history.CommitSent, Tx: c.tx})
	if err := c.send(ctx, m); err != nil {
		return err
	}
	c.history.Add(history.Event{Kind: history.Committed, Tx: c.tx})
	c.recent.add([]sqlPost{*m})
	return nil
}

// savepoint does something between SAVEPOINT and RELEASE or ROLLBACK TO.
func (c *sqlClient) savepoint(ctx context.Context) error {
	mark, temps := len(c.work), len(c.temps)
	if err := c.exec(ctx, "savepoint s"); err != nil {
		return err
	}
	for range c.rng.IntN(4) {
		if err := c.act(ctx, false); err != nil {
			return err
		}
	}
	if c.rng.IntN(2) == 0 {
		return c.exec(ctx, "release s")
	}
	c.giveBack(mark)
	c.temps = c.temps[:temps]
	return c.exec(ctx, "rollback to s")
}

// giveBack undoes the bookkeeping of the acts after mark, before the broker is told.
func (c *sqlClient) giveBack(mark int) {
	for _, a := range slices.Backward(c.work[mark:]) {
		switch {
		case a.took != nil:
			c.history.Add(history.Event{Kind: history.Requeued, Msg: a.took.Msg, Queue: a.took.Queue})
		case a.own != nil:
			a.own.places = append(a.own.places, a.place)
			a.own.own = a.own.own[:len(a.own.own)-1]
		}
	}
	c.work = c.work[:mark]
}

func (c *sqlClient) rollback(ctx context.Context, statement string) error {
	c.giveBack(0)
	c.history.Add(history.Event{Kind: history.RolledBack, Tx: c.tx})
	if err := c.exec(ctx, statement); err != nil {
		return err
	}
	return c.checkTemp(ctx, nil)
}

// commit records everything that the transaction did and commits it. Sometimes it disconnects
// without waiting for the answer.
func (c *sqlClient) commit(ctx context.Context) error {
	var events []history.Event
	var posts []sqlPost
	for _, a := range c.work {
		switch {
		case a.took != nil:
			events = append(events, *a.took)
		case a.post != nil:
			events = append(events, a.post.sent(c.tx)...)
			if len(a.post.own) > 0 { // it must never be delivered there
				never := int(c.lastTx.Add(1))
				for _, place := range a.post.own {
					events = append(events, history.Event{Kind: history.Sent, Msg: a.post.id, Queue: place, Tx: never})
				}
				events = append(events, history.Event{Kind: history.RolledBack, Tx: never})
			}
			posts = append(posts, *a.post)
		}
	}
	events = append(events, history.Event{Kind: history.CommitSent, Tx: c.tx})
	if c.rng.IntN(20) == 0 {
		for _, a := range c.work {
			if a.took != nil { // the commit may not reach the broker
				events = append(events, history.Event{Kind: history.Requeued, Msg: a.took.Msg, Queue: a.took.Queue})
			}
		}
		c.history.Add(events...)
		c.conn.PgConn().Conn().Write([]byte("Q\x00\x00\x00\x0bcommit\x00"))
		return errDropped
	}
	c.history.Add(events...)
	if err := c.exec(ctx, "commit"); err != nil {
		return err
	}
	c.history.Add(history.Event{Kind: history.Committed, Tx: c.tx})
	c.recent.add(posts)
	return c.checkTemp(ctx, c.temps)
}

// compose returns the next message.
func (c *sqlClient) compose() *sqlPost {
	c.seq++
	m := &sqlPost{id: history.MsgID{Publisher: c.name, Seq: c.seq}}
	switch n := c.rng.IntN(10); {
	case n < 3:
		m.queue, m.places = "a", []string{"a", "a.second"}
	case n < 5:
		m.queue, m.places = "a", []string{"a", "a.second", "c"}
	case n < 7:
		m.queue, m.places = "b", []string{"b"}
	case n < 9:
		m.queue, m.places = "c", []string{"c"}
	default:
		m.queue, m.places = sqlForeign, []string{sqlForeign}
	}
	return m
}

// sent returns the events to record for a post before its commit.
func (p *sqlPost) sent(tx int) (events []history.Event) {
	for _, place := range p.places {
		copied := p.queue == "a" && place == "c" // by the trigger
		events = append(events, history.Event{Kind: history.Sent, Msg: p.id, Queue: place, Tx: tx, After: p.after, Copy: copied})
	}
	return events
}

// post posts a message or a chain of messages in the transaction.
func (c *sqlClient) post(ctx context.Context) error {
	m := c.compose()
	var wait []string
	if m.queue != sqlForeign {
		wait = c.waitFor(m)
	}
	if err := c.send(ctx, m, wait...); err != nil {
		return err
	}
	c.work = append(c.work, sqlAct{post: m})
	return nil
}

// waitFor picks the messages that m has to wait for, and returns their names.
func (c *sqlClient) waitFor(m *sqlPost) (iids []string) {
	add := func(p *sqlPost) {
		if p.queue != sqlForeign {
			m.after, iids = append(m.after, p.id), append(iids, p.iid)
		}
	}
	if c.rng.IntN(3) == 0 {
		for _, a := range c.work {
			if a.post != nil && c.rng.IntN(2) == 0 {
				add(a.post)
			}
		}
	}
	if p, ok := c.recent.any(c.rng); ok && c.rng.IntN(6) == 0 {
		add(&p)
	}
	return iids
}

// send posts m, sometimes with a name that was requested before, and records its name.
func (c *sqlClient) send(ctx context.Context, m *sqlPost, wait ...string) error {
	var iid, headers, properties any
	if c.rng.IntN(8) == 0 && m.queue != sqlForeign {
		var reserved string
		if err := c.conn.QueryRow(ctx, "select mbus4.get_iid($1)", m.queue).Scan(&reserved); err != nil {
			return err
		}
		c.history.Add(history.Event{Kind: history.Named, Msg: m.id, Key: reserved})
		iid = reserved
	}
	if len(wait) > 0 {
		headers = `consume_after=>"{` + strings.Join(wait, ",") + `}"`
	}
	if len(m.places) == 3 {
		properties = "copy=>1"
	}
	err := c.conn.QueryRow(ctx, "select mbus4.post($1, hstore('body', $2::text), $3::text::hstore, $4::text::hstore, iid := $5)",
		m.queue, c.body(m.id), headers, properties, iid).Scan(&m.iid)
	if err == nil && iid == nil {
		c.history.Add(history.Event{Kind: history.Named, Msg: m.id, Key: m.iid})
	}
	return err
}

// body returns a message body that parse accepts.
func (c *sqlClient) body(id history.MsgID) string {
	text := strings.Repeat(string(rune('a'+c.rng.IntN(26))), c.rng.IntN(1000))
	return fmt.Sprintf("%s %d %08x\n%s", id.Publisher, id.Seq, crc32.ChecksumIEEE([]byte(text)), text)
}

// consume consumes up to n messages.
func (c *sqlClient) consume(ctx context.Context, s sqlSource, n int) error {
	query, args := "select iid, data->'body' from mbus4.consume($1, $2)", []any{s.queue, s.consumer}
	if n > 1 {
		query, args = "select iid, data->'body' from mbus4.consumen_"+s.queue+"_by_"+s.consumer+"($1)", []any{n}
	}
	_, err := c.receive(ctx, false, s.place, query, args...)
	return err
}

// take consumes a message of queue b by its name.
func (c *sqlClient) take(ctx context.Context) error {
	p, ok := c.recent.any(c.rng)
	if !ok || p.queue != "b" {
		return nil
	}
	_, err := c.receive(ctx, true, "b", "select iid, data->'body' from mbus4.take($1) where iid is not null", p.iid)
	return err
}

// receive records the messages that a query consumed from a place, and returns their number.
func (c *sqlClient) receive(ctx context.Context, byName bool, place, query string, args ...any) (n int, err error) {
	rows, err := c.conn.Query(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	type message struct{ IID, Body string }
	messages, err := pgx.CollectRows(rows, pgx.RowToStructByPos[message])
	if err != nil {
		return 0, err
	}
	for _, m := range messages {
		id, err := parse([]byte(m.Body))
		if err != nil {
			return 0, err
		}
		if own := c.pending(id); own != nil {
			at := slices.Index(own.places, place)
			if at < 0 {
				return 0, fmt.Errorf("%w: %s came twice from %s to its own transaction", errDamaged, id, place)
			}
			own.places, own.own = slices.Delete(own.places, at, at+1), append(own.own, place)
			c.work = append(c.work, sqlAct{own: own, place: place})
			continue
		}
		c.history.Add(history.Event{Kind: history.Delivered, Msg: id, Queue: place, Key: m.IID, Tx: c.tx, Consumer: c.name, ByName: byName, At: time.Now().UnixMilli()})
		c.work = append(c.work, sqlAct{took: &history.Event{Kind: history.Acked, Msg: id, Queue: place, Tx: c.tx}})
	}
	return len(messages), nil
}

// pending returns the message with this id if the open transaction has posted it, otherwise nil.
func (c *sqlClient) pending(id history.MsgID) *sqlPost {
	for _, a := range c.work {
		if a.post != nil && a.post.id == id {
			return a.post
		}
	}
	return nil
}

// postTemp posts to the session's temporary queue.
func (c *sqlClient) postTemp(ctx context.Context) error {
	if c.temp == "" { // what a savepoint or a rollback may undo is not made in it
		return nil
	}
	c.seq++
	id := history.MsgID{Publisher: c.name, Seq: c.seq}
	c.temps = append(c.temps, id)
	return c.conn.QueryRow(ctx, "select mbus4.post($1, hstore('body', $2::text))", c.temp, c.body(id)).Scan(new(string))
}

// checkTemp empties the temporary queue and checks that it had exactly these messages. It creates
// the queue if there is none.
func (c *sqlClient) checkTemp(ctx context.Context, want []history.MsgID) error {
	if c.temp == "" {
		return c.conn.QueryRow(ctx, "select mbus4.create_temporary_queue()").Scan(&c.temp)
	}
	for n := 0; ; n++ {
		var body string
		err := c.conn.QueryRow(ctx, "select data->'body' from mbus4.consume($1)", c.temp).Scan(&body)
		if errors.Is(err, pgx.ErrNoRows) && n == len(want) {
			return nil
		}
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("%w: %d messages in the temporary queue, want %v", errDamaged, n, want)
		}
		if err != nil {
			return err
		}
		if id, err := parse([]byte(body)); err != nil || n >= len(want) || id != want[n] {
			return fmt.Errorf("%w: message %d of the temporary queue is %s (%v), want %v", errDamaged, n, id, err, want)
		}
	}
}

// exec runs a statement that returns no rows.
func (c *sqlClient) exec(ctx context.Context, statement string) error {
	_, err := c.conn.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol)
	return err
}

// drain consumes all messages, with a transaction for each look at a queue, until all queues are
// empty. Messages that wait for others come after them.
func (c *sqlClient) drain(ctx context.Context, url string) (err error) {
	if c.conn, err = pgx.Connect(ctx, url); err != nil {
		return err
	}
	defer c.conn.Close(ctx)
	for all := 1; all > 0; {
		all = 0
		for _, s := range sqlSources {
			c.tx, c.work = int(c.lastTx.Add(1)), nil
			if err := c.exec(ctx, "begin"); err != nil {
				return err
			}
			for n := 1; n > 0; all += n {
				if n, err = c.receive(ctx, false, s.place, "select iid, data->'body' from mbus4.consume($1, $2)", s.queue, s.consumer); err != nil {
					return err
				}
			}
			for _, a := range c.work {
				c.history.Add(*a.took)
			}
			c.history.Add(history.Event{Kind: history.CommitSent, Tx: c.tx})
			if err := c.exec(ctx, "commit"); err != nil {
				return err
			}
			c.history.Add(history.Event{Kind: history.Committed, Tx: c.tx})
		}
	}
	return nil
}

// isState reports whether err is an error of the broker with this SQLSTATE.
func isState(err error, code string) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == code
}
