package streams

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/core/stream"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

const errStreamID command.Error = "ERR Invalid stream ID specified as stream command argument"

// strictID parses an id. If it has no sequence number, seq is used.
func strictID(arg []byte, seq uint64) (stream.ID, error) {
	id, given, err := parseID(arg, seq)
	if !given {
		return id, errStreamID
	}
	return id, err
}

// looseID is like strictID, but also accepts - and + for the first and the last id.
func looseID(arg []byte, seq uint64) (stream.ID, error) {
	switch string(arg) {
	case "-":
		return stream.ID{}, nil
	case "+":
		return stream.MaxID, nil
	}
	return strictID(arg, seq)
}

// newID parses the id of a new entry. given is false if the stream assigns the sequence number
// (ms-*).
func newID(arg []byte) (id stream.ID, given bool, err error) { return parseID(arg, 0) }

// longestID is the maximum length of an id, which may have leading blanks and zeros.
const longestID = 127

func parseID(arg []byte, seq uint64) (id stream.ID, given bool, err error) {
	if len(arg) > longestID {
		return id, true, errStreamID
	}
	ms, number, dashed := bytes.Cut(arg, []byte("-"))
	var ok bool
	if id.Ms, ok = unsigned(ms); !ok {
		return id, true, errStreamID
	}
	id.Seq = seq
	if !dashed {
		return id, true, nil
	}
	if string(number) == "*" {
		id.Seq = 0
		return id, false, nil
	}
	if id.Seq, ok = unsigned(number); !ok {
		return id, true, errStreamID
	}
	return id, true, nil
}

// unsigned parses a number like C's strtoull, which Redis uses: leading blanks and a plus sign are
// allowed.
func unsigned(b []byte) (uint64, bool) {
	s := strings.TrimLeft(string(b), " \t\n\v\f\r")
	if s != "" && s[0] == '+' {
		s = s[1:]
	}
	if strings.HasPrefix(s, "-") {
		return 0, strings.Trim(s[1:], "0") == "" && len(s) > 1 && len(s) < len(b)+1
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

// interval parses the ends of a range. The form "(id" excludes the end.
func interval(from, to []byte) (a, b stream.ID, err error) {
	if a, err = intervalStart(from); err != nil {
		return a, b, err
	}
	exclusive := len(to) > 1 && to[0] == '('
	if exclusive {
		b, err = strictID(to[1:], math.MaxUint64)
	} else {
		b, err = looseID(to, math.MaxUint64)
	}
	if err == nil && exclusive {
		var ok bool
		if b, ok = b.Prev(); !ok {
			err = command.Error("ERR invalid end ID for the interval")
		}
	}
	return a, b, err
}

func intervalStart(arg []byte) (id stream.ID, err error) {
	if len(arg) < 2 || arg[0] != '(' {
		return looseID(arg, 0)
	}
	if id, err = strictID(arg[1:], 0); err == nil {
		var ok bool
		if id, ok = id.Next(); !ok {
			err = command.Error("ERR invalid start ID for the interval")
		}
	}
	return id, err
}

// writeID writes an id.
func writeID(w *respwire.Writer, id stream.ID) {
	var text [41]byte
	b := strconv.AppendUint(text[:0], id.Ms, 10)
	b = strconv.AppendUint(append(b, '-'), id.Seq, 10)
	w.Bulk(b)
}
