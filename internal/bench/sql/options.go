package sql

import (
	"errors"
	"time"

	"fiveways.dev/fiveways/internal/bench/option"

	"github.com/jackc/pgx/v5/pgconn"
)

// Options say what load Run puts on which server. DefaultOptions is a valid start; the zero value
// is not.
type Options struct {
	option.Common // URL is as psql takes it, the database has the schema mbus4; Loads are of LoadNames

	Clients int `json:"clients"` // connections
	Size    int `json:"size"`    // bytes of the text in a message
	Amount  int `json:"amount"`  // messages that one consumen asks for
	Backlog int `json:"backlog"` // messages posted before those loads that take some
}

// DefaultOptions runs every load for five seconds on the local broker with one client.
func DefaultOptions() Options {
	return Options{
		Common:  option.Common{URL: "postgres://guest:guest@127.0.0.1:5433/fiveways", Loads: LoadNames(), Duration: 5 * time.Second},
		Clients: 1, Size: 100, Amount: 100, Backlog: 100_000,
	}
}

// ErrInvalid is wrapped by the error of every option out of its range.
var ErrInvalid = errors.New("sql bench: invalid option")

// Validate names each option that is out of its range, as the command line spells it.
func (o Options) Validate() error {
	c := option.NewCheck(ErrInvalid)
	_, err := pgconn.ParseConfig(o.URL)
	c.NoError(err)
	c.Common(o.Common, LoadNames())
	c.Within("clients", o.Clients, 1, 10_000)
	c.Within("size", o.Size, 0, 16<<20)
	c.Within("amount", o.Amount, 1, 100_000)
	c.Within("backlog", o.Backlog, 1, 100_000_000)
	return c.Err()
}
