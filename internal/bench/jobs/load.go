package jobs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/bench/latency"
)

// load is an operation that a client repeats.
type load struct {
	name    string
	backlog bool // it needs jobs in the queue
	list    bool // it uses elements of a list instead of jobs
	do      func(k *client) (jobs int, err error)
}

// loads lists the loads in the order in which they run.
var loads = []load{
	{name: "enqueue", do: func(k *client) (int, error) { return k.depth, k.enqueue() }},
	{name: "work", backlog: true, do: (*client).work},
	{name: "cycle", do: func(k *client) (int, error) {
		if err := k.enqueue(); err != nil {
			return 0, err
		}
		return k.workAll()
	}},
	{name: "list", list: true, do: (*client).pushAndPop},
	{name: "wire", list: true, do: (*client).pings},
}

// LoadNames returns the names of the loads. enqueue adds jobs to a queue. work takes jobs of a
// backlog and reports them done. cycle does all three. list is LPUSH followed by BRPOP. wire sends
// as many PINGs as a cycle has commands, which is the minimum cost of a cycle. With a depth above
// one, commands are pipelined, and that many jobs are taken at once.
func LoadNames() (names []string) {
	for _, l := range loads {
		names = append(names, l.name)
	}
	return names
}

func named(name string) load {
	for _, l := range loads {
		if l.name == name {
			return l
		}
	}
	panic("jobs bench: a validated load is missing: " + name)
}

// client is a connection with its measurements.
type client struct {
	*conn
	dialect
	queue, body string
	depth       int
	prefix      string // of the ids of its jobs
	made        int64
	got         []job
	mids        []byte
	jobs        uint64
	latency     latency.Histogram
}

func newClient(c *conn, d dialect, number int, queue string, body string, depth int) *client {
	return &client{conn: c, dialect: d, queue: queue, body: body, depth: depth, prefix: fmt.Sprintf("job-%d-", number)}
}

// enqueue enqueues depth jobs.
func (k *client) enqueue() error {
	for range k.depth {
		k.made++
		k.mids = strconv.AppendInt(append(k.mids[:0], k.prefix...), k.made, 10)
		k.dialect.enqueue(k.conn, k.queue, string(k.mids), k.body)
	}
	if err := k.flush(); err != nil {
		return err
	}
	return k.skipAll(k.depth)
}

// errDrained ends a load that takes jobs: the queue is empty.
var errDrained = errors.New("jobs bench: the queue is empty")

// work takes jobs and reports them done.
func (k *client) work() (int, error) {
	k.take(k.conn, k.queue, k.depth)
	err := k.flush()
	if err == nil {
		k.got, err = k.taken(k.conn, k.got[:0])
	}
	if err != nil {
		return 0, err
	}
	if len(k.got) == 0 {
		return 0, errDrained
	}
	for _, j := range k.got {
		k.done(k.conn, k.queue, j)
	}
	if err := k.flush(); err != nil {
		return 0, err
	}
	return len(k.got), k.skipAll(len(k.got))
}

// workAll works until as many jobs are done as were enqueued. Clients of a run may get each other's
// jobs, so the number is what counts.
func (k *client) workAll() (n int, err error) {
	for n < k.depth {
		some, err := k.work()
		if n += some; err != nil {
			return n, err
		}
	}
	return n, nil
}

func (k *client) pushAndPop() (int, error) {
	for range k.depth {
		k.command("LPUSH", k.queue, k.body)
	}
	if err := k.flush(); err != nil {
		return 0, err
	}
	if err := k.skipAll(k.depth); err != nil {
		return 0, err
	}
	for range k.depth {
		k.command("BRPOP", k.queue, "5")
	}
	if err := k.flush(); err != nil {
		return 0, err
	}
	return k.depth, k.skipAll(k.depth)
}

// pings sends as many commands as a cycle, without any effect.
func (k *client) pings() (int, error) {
	for range 3 {
		for range k.depth {
			k.command("PING")
		}
		if err := k.flush(); err != nil {
			return 0, err
		}
		if err := k.skipAll(k.depth); err != nil {
			return 0, err
		}
	}
	return k.depth, nil
}

// drive repeats a load until the deadline, or until the queue is empty.
func (k *client) drive(l load, deadline time.Time) error {
	for before := time.Now(); before.Before(deadline); {
		n, err := l.do(k)
		if errors.Is(err, errDrained) && l.backlog {
			return nil
		}
		if err != nil {
			return err
		}
		now := time.Now()
		k.latency.Record(now.Sub(before))
		k.jobs += uint64(n)
		before = now
	}
	return nil
}

func bodyOf(size int) string { return strings.Repeat("x", size) }
