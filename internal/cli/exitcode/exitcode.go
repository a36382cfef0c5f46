package exitcode

import (
	"errors"
	"fmt"
)

// The exit codes, as `fiveways --help` documents them.
const (
	OK         = 0
	Failure    = 1
	WrongUsage = 2 // command line or configuration
	InUse      = 3 // listen address or data folder belongs to another process
	Damage     = 4 // the data folder is damaged
)

// ErrUsage means that the command line is wrong.
var ErrUsage = errors.New("wrong usage")

// Usage is an error about the command line.
func Usage(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUsage}, args...)...)
}

// Verdict is the exit code of an error, and what the user can do about it.
type Verdict struct {
	Err  error
	Code int
	Hint string
}
