package sql

import (
	"errors"
	"strconv"
	"strings"
)

// load is an operation that a client repeats.
type load struct {
	name    string
	backlog bool // it needs messages in the queue
	do      func(k *client) (messages int, err error)
}

// loads lists the loads in the order in which they run.
var loads = []load{
	{name: "post", do: func(k *client) (int, error) {
		_, err := k.run(post)
		return 1, err
	}},
	{name: "consume", backlog: true, do: func(k *client) (int, error) { return k.take(consume) }},
	{name: "consumen", backlog: true, do: func(k *client) (int, error) { return k.take(consumen) }},
	{name: "transaction", backlog: true, do: transaction},
}

// LoadNames returns the names of the loads: posting a message, taking one, taking many at once, and
// taking one and posting another in one transaction.
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
	panic("sql bench: a validated load is missing: " + name)
}

// The prepared statements of a client.
const (
	post     = "post"
	consume  = "consume"
	consumen = "consumen"
	begin    = "begin"
	commit   = "commit"
)

// statements returns the SQL of the prepared statements for a queue. The message text is a constant
// in the statement, because the queue is to be measured.
func statements(queue string, o Options) map[string]string {
	return map[string]string{
		post:     "select mbus4.post('" + queue + "', '" + messageOf(o.Size) + "')",
		consume:  "select * from mbus4.consume('" + queue + "')",
		consumen: "select * from mbus4.consumen_" + queue + "_by_default(" + strconv.Itoa(o.Amount) + ")",
		begin:    "begin",
		commit:   "commit",
	}
}

// fillStatement returns a statement that posts $1 messages.
func fillStatement(queue string, o Options) string {
	return "select count(mbus4.post('" + queue + "', '" + messageOf(o.Size) + "')) from generate_series(1, $1::int)"
}

// messageOf returns an hstore with one value of this many bytes.
func messageOf(size int) string { return `order=>"` + strings.Repeat("x", size) + `"` }

// errDrained ends a load that takes messages: the queue is empty.
var errDrained = errors.New("sql bench: the queue is empty")

// take runs a statement that returns messages.
func (k *client) take(statement string) (int, error) {
	n, err := k.run(statement)
	if err == nil && n == 0 {
		err = errDrained
	}
	return n, err
}

// transaction takes a message and posts another one, atomically.
func transaction(k *client) (int, error) {
	if _, err := k.run(begin); err != nil {
		return 0, err
	}
	n, err := k.take(consume)
	if err != nil {
		return 0, err
	}
	if _, err := k.run(post); err != nil {
		return 0, err
	}
	_, err = k.run(commit)
	return n, err
}
