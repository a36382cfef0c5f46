// Package pgerror defines SQL errors in the form of the PostgreSQL protocol: an SQLSTATE, a
// message, and optionally a detail and a hint.
package pgerror

import "fmt"

// Error is an error or a notice as the client sees it. The zero Severity is "ERROR".
type Error struct {
	Severity string // ERROR, FATAL, NOTICE, WARNING, ...
	Code     string // SQLSTATE, five characters
	Message  string
	Detail   string
	Hint     string
	Context  string // lines of context, innermost first
	Position int    // character position in the statement, from 1; 0 unknown
	Routine  string // PostgreSQL's C function that reports the error, if clients react to its name
}

func (e *Error) Error() string { return e.Message }

// New returns an ERROR.
func New(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithDetail sets the detail of e and returns e.
func (e *Error) WithDetail(format string, args ...any) *Error {
	e.Detail = fmt.Sprintf(format, args...)
	return e
}

// WithHint sets the hint of e and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// From sets the routine of e and returns e.
func (e *Error) From(routine string) *Error {
	e.Routine = routine
	return e
}

// At sets the position of e, unless it is set already, and returns e. offset is a byte offset into
// text, from 0, as the parser reports it. At ignores a negative offset.
func (e *Error) At(text string, offset int32) *Error {
	if offset >= 0 && int(offset) <= len(text) && e.Position == 0 {
		e.Position = len([]rune(text[:offset])) + 1
	}
	return e
}

// Unsupported returns the error for a feature that does not exist.
func Unsupported(what string) *Error {
	return New(FeatureNotSupported, "%s is not supported", what)
}

// DividedByZero returns the error for a division by zero.
func DividedByZero() *Error { return New(DivisionByZero, "division by zero") }

// Notice returns an Error of severity NOTICE.
func Notice(format string, args ...any) *Error {
	return &Error{Severity: "NOTICE", Code: "00000", Message: fmt.Sprintf(format, args...)}
}

// SQLSTATEs in use (PostgreSQL 15, appendix A).
const (
	FeatureNotSupported   = "0A000"
	InvalidParameterValue = "22023"
	DivisionByZero        = "22012"
	NumericOutOfRange     = "22003"
	DatetimeOverflow      = "22008"
	InvalidDatetimeFormat = "22007"
	InvalidText           = "22P02"
	NoDataFound           = "P0002"
	NotNullViolation      = "23502"
	ForeignKeyViolation   = "23503"
	UniqueViolation       = "23505"
	NullNotAllowed        = "22004"
	SyntaxError           = "42601"
	UndefinedColumn       = "42703"
	UndefinedFunction     = "42883"
	UndefinedTable        = "42P01"
	UndefinedObject       = "42704"
	UndefinedParameter    = "42P02"
	AmbiguousColumn       = "42702"
	AmbiguousFunction     = "42725"
	AmbiguousParameter    = "42P08"
	DatatypeMismatch      = "42804"
	CannotCoerce          = "42846"
	IndeterminateType     = "42P18"
	GroupingError         = "42803"
	WrongObjectType       = "42809"
	DuplicateObject       = "42710"
	InsufficientPrivilege = "42501"
	DuplicateCursor       = "42P03"
	DuplicatePrepared     = "42P05"
	InvalidCursor         = "34000"
	InvalidPrepared       = "26000"
	ActiveTransaction     = "25001"
	NoActiveTransaction   = "25P01"
	FailedTransaction     = "25P02"
	IdleInTransaction     = "25P03"
	InvalidSavepoint      = "3B001"
	InvalidCatalog        = "3D000"
	InvalidSchema         = "3F000"
	InvalidPassword       = "28P01"
	InvalidAuthorization  = "28000"
	ProtocolViolation     = "08P01"
	TooManyConnections    = "53300"
	DiskFull              = "53100"
	OutOfMemory           = "53200"
	ProgramLimitExceeded  = "54000"
	QueryCanceled         = "57014"
	AdminShutdown         = "57P01"
	CannotConnectNow      = "57P03"
	IOError               = "58030"
	RaiseException        = "P0001"
	InternalError         = "XX000"
)
