package failure

import (
	"errors"
	"fmt"
)

// Sentinels of the engine. Each protocol maps each of them to its own code and scope in one table,
// matching with errors.Is; details are in *Error.
var (
	ErrQueueNotFound       = errors.New("no such queue")
	ErrExchangeNotFound    = errors.New("no such exchange")
	ErrVHostNotFound       = errors.New("no such virtual host")
	ErrUserNotFound        = errors.New("no such user")
	ErrInequivalent        = errors.New("declared before with another argument")
	ErrExclusive           = errors.New("queue is exclusive to another connection")
	ErrInUse               = errors.New("in use")
	ErrNotEmpty            = errors.New("not empty")
	ErrReservedName        = errors.New("name has the reserved prefix 'amq.'")
	ErrDefaultExchange     = errors.New("operation not permitted on the default exchange")
	ErrSystemExchange      = errors.New("system exchanges cannot be deleted")
	ErrInternalExchange    = errors.New("internal exchange takes no publishes from clients")
	ErrDeadlock            = errors.New("deadlock detected")
	ErrExclusiveConsumer   = errors.New("queue is consumed exclusively")
	ErrAccessRefused       = errors.New("access refused")
	ErrVHostRefused        = errors.New("access to the virtual host refused")
	ErrVHostDeleted        = errors.New("the virtual host was deleted")
	ErrUserDeleted         = errors.New("the user was deleted")
	ErrVHostConnections    = errors.New("connection limit of the virtual host is reached")
	ErrUserConnections     = errors.New("connection limit of the user is reached")
	ErrUserChannels        = errors.New("channel limit of the user is reached")
	ErrQueueLimit          = errors.New("queue limit of the virtual host is reached")
	ErrInvalidName         = errors.New("invalid name")
	ErrInvalidPassword     = errors.New("invalid password")
	ErrInvalidPattern      = errors.New("invalid pattern")
	ErrInvalidParameter    = errors.New("invalid value of a parameter")
	ErrInvalidLimit        = errors.New("unknown limit")
	ErrUnknownExchangeType = errors.New("unknown exchange type")
	ErrInvalidBinding      = errors.New("invalid binding")
	ErrAlreadyQueued       = errors.New("already queued")
	ErrLocked              = errors.New("locked")
	ErrBackoff             = errors.New("in backoff")
	ErrStale               = errors.New("the lease is over")
	ErrRejected            = errors.New("message rejected by a full queue")
	ErrNoFront             = errors.New("nothing goes before the highest of 255 priorities")
	ErrTooLarge            = errors.New("too large")
	ErrLogFailed           = errors.New("the log has failed and takes no more writes")
	ErrWrongKind           = errors.New("the queue is of another kind")
	ErrClosed              = errors.New("broker is closed")
)

// Error carries the details that a protocol needs for its error text.
type Error struct {
	Err      error  // one of the sentinels
	Kind     string // "queue", "exchange", "vhost", "user", "pattern", "parameter", "sequence" or "job"
	Name     string
	VHost    string
	User     string
	Arg      string // the different or invalid argument
	Received any    // nil: none; for a queue the value, for an exchange the phrase for it
	Current  any    // like Received; for a limit that is reached, the limit
	Detail   string
	Action   string // for ErrAccessRefused: "configure", "write" or "read"
	Topic    bool   // Action was about the routing key Key of the exchange
	Key      string
}

func (e *Error) Error() string {
	switch {
	case e.Arg != "":
		return fmt.Sprintf("broker: %s '%s': %v: %s", e.Kind, e.Name, e.Err, e.Arg)
	case e.Detail != "":
		return fmt.Sprintf("broker: %s '%s': %v: %s", e.Kind, e.Name, e.Err, e.Detail)
	case e.Kind == "queue" || e.Kind == "exchange":
		return fmt.Sprintf("broker: %s '%s' in vhost '%s': %v", e.Kind, e.Name, e.VHost, e.Err)
	case e.Kind != "":
		return fmt.Sprintf("broker: %s '%s': %v", e.Kind, e.Name, e.Err)
	}
	return "broker: " + e.Err.Error()
}

// LogFailed returns the error for a promise that cannot be kept because of err, an error of the
// log.
func LogFailed(kind string, err error) error {
	return &Error{Err: ErrLogFailed, Kind: kind, Detail: err.Error()}
}

func (e *Error) Unwrap() error { return e.Err }
