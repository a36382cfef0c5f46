package command

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// Integer parses an integer as strictly as Redis: no blanks, plus sign, or leading zeros.
func Integer(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 20 || b[0] == '+' || len(b) > 1 && b[0] == '0' || len(b) > 1 && b[0] == '-' && b[1] == '0' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	return n, err == nil
}

// Seconds parses a timeout in seconds, which may have a fraction; 0 means no limit. As in Redis, a
// timeout that is too large counts as negative.
func Seconds(b []byte) (time.Duration, error) {
	f, err := strconv.ParseFloat(string(b), 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(f):
		return 0, ErrTimeout
	case f < 0 || f*1000 >= math.MaxInt64:
		return 0, ErrNegative
	case f*1e9 >= math.MaxInt64:
		return math.MaxInt64, nil
	}
	return time.Duration(math.Ceil(f*1000)) * time.Millisecond, nil
}

// Is reports whether an argument is the given Redis keyword, ignoring case.
func Is(b []byte, word string) bool { return len(b) == len(word) && strings.EqualFold(string(b), word) }
