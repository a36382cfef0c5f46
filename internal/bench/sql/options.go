package sql

import (
	"errors"
	"time"

	"fiveways.dev/fiveways/internal/bench/option"

	"github.com/jackc/pgx/v5/pgconn"
)

// Options configures Run. Start from DefaultOptions, because the zero value is not valid.
type Options struct {
	option.Common // URL as for psql, of a database with the schema mbus4; Loads are of LoadNames

	Clients int `json:"clients"` // connections
	Size    int `json:"size"`    // bytes of the text in a message
	Amount  int `json:"amount"`  // messages requested by one consumen
	Backlog int `json:"backlog"` // messages posted before the loads that take messages
}

// DefaultOptions returns options that run every load for five seconds on the local broker with one
// client.
func DefaultOptions() Options {
	return Options{
		Common:  option.Common{URL: "postgres://guest:guest@127.0.0.1:5433/fiveways", Loads: LoadNames(), Duration: 5 * time.Second},
		Clients: 1, Size: 100, Amount: 100, Backlog: 100_000,
	}
}

// ErrInvalid is wrapped by the errors for invalid options.
var ErrInvalid = errors.New("sql bench: invalid option")

// Validate returns an error for each invalid option, named as on the command line.
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
