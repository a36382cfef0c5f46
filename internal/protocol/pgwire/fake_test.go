package pgwire

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

const (
	mostRows  = 100_000
	mostBytes = 50_000_000
)

// fake is a session with a small language, for testing the protocol around statements. Words are
// separated by blanks, statements by semicolons:
//
//	rows N       N rows of an int4
//	echo         its parameter, a text
//	wait         waits for the end of its context
//	begin, commit
//	fail         an error with all its fields
//	late         an error when its transaction commits
//	notice WORD, set NAME VALUE, panic, fatal, odd (an error that is not SQL's), big N (a row of N bytes), bad (a row that cannot be written)
//
// N is limited, so that fuzzing does not ask for more than can be read in time.
type fake struct {
	c       *conn
	waiting chan struct{} // signaled when wait begins to wait

	status     byte
	late       bool
	failed     bool
	statements map[string]*sql.Prepared
	portals    map[string]*sql.Portal
	running    map[*sql.Portal]*fakePortal
	idle       time.Duration

	mu     sync.Mutex
	closed int // guarded by mu
}

type fakePortal struct {
	text string
	args []value.Datum
	at   int
}

func (f *fake) SetDefault(name, v string) error {
	switch name {
	case "idle_in_transaction_session_timeout":
		d, err := time.ParseDuration(v)
		f.idle = d
		return err
	case "idle_session_timeout":
		return nil
	case "application_name", "extra_float_digits", "work_mem":
		f.c.parameter(name, v)
		return nil
	}
	return pgerror.New(pgerror.UndefinedObject, `unrecognized configuration parameter "%s"`, name)
}

func (f *fake) Reported() []sql.Setting {
	return []sql.Setting{{Name: "server_version", Value: "15.0"}, {Name: "client_encoding", Value: "UTF8"}, {Name: "standard_conforming_strings", Value: "on"}}
}

func (f *fake) IdleInTransactionTimeout() time.Duration { return f.idle }
func (f *fake) IdleTimeout() time.Duration              { return 0 }
func (f *fake) Settings() value.Settings                { return value.Defaults() }

func (f *fake) Split(text string) (list []*sql.Prepared, err error) {
	for _, s := range strings.Split(text, ";") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		p, err := f.Prepare(s, nil)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func (f *fake) Prepare(text string, _ []uint32) (*sql.Prepared, error) {
	p := &sql.Prepared{Text: text}
	switch words := append(strings.Fields(text), ""); words[0] {
	case "rows", "bad":
		p.Columns = []value.Field{{Name: "n", Type: value.Int4}}
	case "big":
		p.Columns = []value.Field{{Name: "t", Type: value.Text}}
	case "echo":
		p.Columns, p.Params = []value.Field{{Name: "t", Type: value.Text}}, []*value.Type{value.Text}
	case "syntax":
		f.failed = true
		return nil, pgerror.New(pgerror.SyntaxError, `syntax error at or near "syntax"`).At(text, 0)
	}
	return p, nil
}

func (f *fake) Store(name string, p *sql.Prepared) error {
	if name != "" && f.statements[name] != nil {
		f.failed = true
		return pgerror.New(pgerror.DuplicatePrepared, `prepared statement "%s" already exists`, name)
	}
	f.statements[name] = p
	return nil
}

func (f *fake) Statement(name string) (*sql.Prepared, error) {
	if p := f.statements[name]; p != nil {
		return p, nil
	}
	f.failed = true
	return nil, pgerror.New(pgerror.InvalidPrepared, `prepared statement "%s" does not exist`, name)
}

func (f *fake) Deallocate(name string) { delete(f.statements, name) }

func (f *fake) Open(p *sql.Prepared, args []value.Datum) (*sql.Portal, error) {
	portal := &sql.Portal{Columns: p.Columns}
	f.running[portal] = &fakePortal{text: p.Text, args: args}
	return portal, nil
}

func (f *fake) Bind(name string, p *sql.Portal) error { f.portals[name] = p; return nil }

func (f *fake) Portal(name string) (*sql.Portal, error) {
	if p := f.portals[name]; p != nil {
		return p, nil
	}
	f.failed = true
	return nil, pgerror.New(pgerror.InvalidCursor, `portal "%s" does not exist`, name)
}

func (f *fake) Release(name string) { delete(f.portals, name) }

func (f *fake) AsksLast(p *sql.Portal) bool { return f.running[p].text == "last" }

func (f *fake) Fetch(ctx context.Context, p *sql.Portal, limit int, row func([]value.Datum) error) (bool, string, error) {
	r := f.running[p]
	done, tag, err := f.run(ctx, r, limit, row)
	if p.Last {
		tag += " of all"
	}
	if err != nil {
		f.failed = true
		if f.status == 'T' {
			f.status = 'E'
		}
	}
	return done, tag, err
}

func (f *fake) run(ctx context.Context, r *fakePortal, limit int, row func([]value.Datum) error) (bool, string, error) {
	words := strings.Fields(r.text)
	if len(words) == 0 {
		return true, "", nil
	}
	n := 0
	if len(words) > 1 {
		fmt.Sscan(words[1], &n) //nolint:errcheck // 0 then
	}
	switch words[0] {
	case "rows":
		for sent := 0; r.at < min(n, mostRows); sent++ {
			if limit > 0 && sent == limit {
				return false, "", nil
			}
			r.at++
			if err := row([]value.Datum{int64(r.at)}); err != nil {
				return false, "", err
			}
		}
		return true, fmt.Sprint("SELECT ", r.at), nil
	case "bad":
		if err := row([]value.Datum{int64(1)}); err != nil {
			return false, "", err
		}
		return true, "SELECT 1", row([]value.Datum{"no number"})
	case "big":
		return true, "SELECT 1", row([]value.Datum{strings.Repeat("x", min(n, mostBytes))})
	case "echo":
		return true, "SELECT 1", row(r.args)
	case "wait":
		f.waiting <- struct{}{}
		<-ctx.Done()
		return false, "", ctx.Err()
	case "begin":
		f.status = 'T'
	case "commit":
		f.status = 'I'
	case "fail":
		return false, "", pgerror.New("22012", "division by zero").WithDetail("a detail").WithHint("a hint").At("fäil x", 5)
	case "late":
		f.late = true
	case "notice":
		f.c.notice(pgerror.Notice("%s", words[1]))
	case "set":
		f.c.parameter(words[1], words[2])
	case "panic":
		panic("out of luck")
	case "fatal":
		return false, "", fatal("57P01", "that is all")
	case "odd":
		return false, "", errors.New("something odd")
	}
	return true, strings.ToUpper(words[0]), nil
}

func (f *fake) Status() byte { return f.status }

func (f *fake) Fail() {
	f.failed = true
	if f.status == 'T' {
		f.status = 'E'
	}
}

func (f *fake) Sync(context.Context) error {
	late := f.late && !f.failed
	f.late, f.failed = false, false
	if late {
		return pgerror.New("40001", "not committed")
	}
	return nil
}

func (f *fake) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed++
}
