package exitcode

import (
	"errors"
	"fmt"
)

// The exit codes, as `fiveways --help` documents them.
const (
	OK         = 0
	Failure    = 1
	WrongUsage = 2 // the command line or the configuration is wrong
	InUse      = 3 // another process has the listen address or the data folder
	Damage     = 4 // the data folder is damaged
)

// ErrUsage means that the command line is wrong.
var ErrUsage = errors.New("wrong usage")

// Usage returns an error about the command line.
func Usage(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUsage}, args...)...)
}

// Verdict is the exit code of an error, with a hint for the user.
type Verdict struct {
	Err  error
	Code int
	Hint string
}
