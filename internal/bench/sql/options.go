package sql

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Options say what load Run puts on which server. DefaultOptions is a valid start; the zero value is not.
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
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...))
		}
	}
	within := func(name string, v, low, high int) {
		check(v >= low && v <= high, "%s is %d; it must be from %d to %d", name, v, low, high)
	}
	if _, err := pgconn.ParseConfig(o.DSN); err != nil {
		errs = append(errs, fmt.Errorf("%w: %w", ErrInvalid, err))
	}
	check(len(o.Loads) > 0, "no load is named; there are %s", strings.Join(LoadNames(), ", "))
	for _, name := range o.Loads {
		check(slices.Contains(LoadNames(), name), "there is no load %q; there are %s", name, strings.Join(LoadNames(), ", "))
	}
	within("clients", o.Clients, 1, 10_000)
	within("size", o.Size, 0, 16<<20)
	within("amount", o.Amount, 1, 100_000)
	within("backlog", o.Backlog, 1, 100_000_000)
	check(o.Duration > 0, "duration is %s; it must be more than 0", o.Duration)
	return errors.Join(errs...)
}
