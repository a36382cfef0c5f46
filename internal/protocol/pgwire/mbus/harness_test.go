package mbus

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/loans"
	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus/localtime"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

func openBroker(t testing.TB, fs vfs.FS) *broker.Broker {
	t.Helper()
	return enginetest.Open(t, fs, func(o *broker.Options) { o.Conditions, o.Order = Conditions(), OrderOf })
}

// caller calls functions like statements do, each in its own transaction unless begin was called.
type caller struct {
	t       testing.TB
	s       *Session
	env     *expr.Env
	notices []string
	open    bool
}

func newCaller(t testing.TB, b *broker.Broker, user string) *caller {
	t.Helper()
	own, err := b.NewSession(broker.SessionOptions{User: user, VHost: "/"})
	if err != nil {
		t.Fatal(err)
	}
	m, _ := managers.LoadOrStore(b, new(loans.Manager))
	c := &caller{t: t, s: NewSession(b, own, Options{User: user, Database: "fiveways", Loans: m.(*loans.Manager)})}
	c.env = &expr.Env{Ctx: context.Background(), Settings: value.Defaults(), User: user, Database: "fiveways", Session: c.s}
	c.env.Notice = func(e *pgerror.Error) { c.notices = append(c.notices, e.Message) }
	c.now()
	t.Cleanup(c.s.Close)
	return c
}

func (c *caller) now() {
	c.env.Now = temporal.TimestampTZ(time.Now().UnixMicro() - localtime.Unix2000*1e6)
}

func (c *caller) begin() { c.now(); c.s.Begin(false); c.open = true }

func (c *caller) commit() {
	c.t.Helper()
	c.open = false
	if err := c.s.Commit(context.Background()); err != nil {
		c.t.Fatal(err)
	}
}

func (c *caller) rollback() { c.open = false; c.s.Rollback() }

// managers maps the brokers opened by tests to their loan managers: *broker.Broker ->
// *loans.Manager.
var managers sync.Map

// try calls a function of mbus4. It parses texts given for hstore arguments.
func (c *caller) try(name string, args ...any) ([]value.Record, error) {
	c.t.Helper()
	fs := c.s.Schemas()[0].Functions(c.env, name)
	if len(fs) != 1 {
		return nil, pgerror.New(pgerror.UndefinedFunction, "%d functions are called %s", len(fs), name)
	}
	if !c.open {
		c.now()
	}
	out, err := c.run(fs[0], args)
	switch {
	case c.open:
	case err != nil:
		c.s.Rollback()
	default:
		err = c.s.Commit(context.Background())
	}
	return out, err
}

func (c *caller) run(f *expr.Function, args []any) (out []value.Record, err error) {
	full := make([]value.Datum, len(f.Args))
	for i, a := range f.Args {
		full[i] = a.Default
		if i < len(args) {
			full[i] = args[i]
			if text, ok := args[i].(string); ok && a.Type != value.Text {
				if full[i], err = value.Parse(a.Type, text, &c.env.Settings); err != nil {
					return nil, err
				}
			}
			if n, ok := args[i].(int); ok {
				full[i] = int64(n)
			}
		}
	}
	if f.Call != nil {
		d, err := f.Call(c.env, full)
		return []value.Record{{d}}, err
	}
	for row, err := range f.Rows(c.env, full) {
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}

func (c *caller) call(name string, args ...any) []value.Record {
	c.t.Helper()
	out, err := c.try(name, args...)
	if err != nil {
		c.t.Fatalf("%s%v: %v", name, args, err)
	}
	return out
}

// text calls a function that returns a text.
func (c *caller) text(name string, args ...any) string {
	c.t.Helper()
	s, _ := c.call(name, args...)[0][0].(string)
	return s
}

// fails calls a function that must fail with a message that contains want.
func (c *caller) fails(want, name string, args ...any) {
	c.t.Helper()
	_, err := c.try(name, args...)
	if err == nil || !strings.Contains(err.Error(), want) {
		c.t.Errorf("%s%v: error %v, want %q", name, args, err, want)
	}
}

// consumes takes messages with consume until the queue is empty, and compares their data.
func (c *caller) consumes(queueName string, want ...string) {
	c.t.Helper()
	c.consumesBy(queueName, "default", want...)
}

func (c *caller) consumesBy(queueName, consumer string, want ...string) {
	c.t.Helper()
	var got []string
	for {
		rows := c.call("consume", queueName, consumer)
		if len(rows) == 0 {
			break
		}
		got = append(got, dataOf(rows[0]))
	}
	if strings.Join(got, " | ") != strings.Join(want, " | ") {
		c.t.Errorf("consume(%s, %s) gave %q, want %q", queueName, consumer, got, want)
	}
}

func dataOf(r value.Record) string {
	m, ok := r[colData].(hstore.Map)
	if !ok {
		return "NULL"
	}
	return string(m.Append(nil))
}

func headersOf(r value.Record) hstore.Map { m, _ := r[colHeaders].(hstore.Map); return m }

func propertiesOf(r value.Record) hstore.Map { m, _ := r[colProperties].(hstore.Map); return m }
