package sql

import (
	"errors"
	"time"

	"fiveways/internal/bench/option"

	"github.com/jackc/pgx/v5/pgconn"
)

// Options say what load Run puts on which server. DefaultOptions is a valid start; the zero value
// is not.
type Options struct {
	DSN      string        `json:"dsn"`         // as psql takes it; the database has the schema mbus4
	Loads    []string      `json:"loads"`       // one after the other, of LoadNames
	Clients  int           `json:"clients"`     // connections
	Size     int           `json:"size"`        // bytes of the text in a message
	Amount   int           `json:"amount"`      // messages that one consumen asks for
	Backlog  int           `json:"backlog"`     // messages posted before those loads that take some
	Duration time.Duration `json:"duration_ns"` // end of each load; one that only takes ends earlier when the backlog does
}

// DefaultOptions runs every load for five seconds on the local broker with one client.
func DefaultOptions() Options {
	return Options{
		DSN: "postgres://guest:guest@127.0.0.1:5433/fiveways", Loads: LoadNames(), Clients: 1, Size: 100, Amount: 100, Backlog: 100_000,
		Duration: 5 * time.Second,
	}
}

// ErrInvalid is wrapped by the error of every option out of its range.
var ErrInvalid = errors.New("sql bench: invalid option")

// Validate names each option that is out of its range, as the command line spells it.
func (o Options) Validate() error {
	c := option.NewCheck(ErrInvalid)
	_, err := pgconn.ParseConfig(o.DSN)
	c.NoError(err)
	c.Loads(o.Loads, LoadNames())
	c.Within("clients", o.Clients, 1, 10_000)
	c.Within("size", o.Size, 0, 16<<20)
	c.Within("amount", o.Amount, 1, 100_000)
	c.Within("backlog", o.Backlog, 1, 100_000_000)
	c.Duration(o.Duration)
	return c.Err()
}
