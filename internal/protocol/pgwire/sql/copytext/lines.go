package copytext

import "fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"

// Lines splits input that arrives in pieces into lines. The first line terminator determines the
// style:
// , \r
//
//	or \r.
type Lines struct {
	Format *Format
	Limit  int // maximum bytes of a line; 0: no limit

	Number int // of the current line, from 1; newlines within quotes count

	buf   []byte // the input; the line begins at start, and was scanned up to at
	start int
	at    int
	ends  lineEnd
	begun bool // a line has begun
	over  bool // no more input
	ended bool // no more lines

	first, quoted, escaped bool // for CSV: at the first character; within quotes; after an escape
}

type lineEnd byte

const (
	unknownEnd lineEnd = iota
	endsNL
	endsCRNL
	endsCR
)

// Feed adds input. It does not keep b.
func (l *Lines) Feed(b []byte) {
	if l.start > 0 {
		l.buf = l.buf[:copy(l.buf, l.buf[l.start:])]
		l.at, l.start = l.at-l.start, 0
	}
	l.buf = append(l.buf, b...)
}

// End signals the end of the input.
func (l *Lines) End() { l.over = true }

// Ended reports whether all lines have been returned, or the end marker \. was seen.
func (l *Lines) Ended() bool { return l.ended }

// Next returns the next line, without its terminator. ok is false if more input is needed or Ended
// is true. Errors: 22P04 for inconsistent line terminators, 54000 for a line above the limit.
func (l *Lines) Next() (line string, ok bool, err error) {
	if l.ended {
		return "", false, nil
	}
	if !l.begun {
		l.begun, l.first, l.quoted, l.escaped = true, true, false, false
		l.Number++
	}
	end, next, found, err := l.scan()
	switch {
	case err != nil:
		return "", false, err
	case !found && !l.over:
		if l.Limit > 0 && len(l.buf)-l.start > l.Limit {
			return "", false, pgerror.New(pgerror.ProgramLimitExceeded, "a line of COPY is longer than %d bytes", l.Limit)
		}
		return "", false, nil
	case !found:
		end, next, l.ended = len(l.buf), len(l.buf), true
	}
	line = string(l.buf[l.start:end])
	l.start, l.at, l.begun = next, next, false
	return line, !l.ended || line != "", nil
}

// peek returns the character at i. there is false beyond the input; known is false if more input
// may follow.
func (l *Lines) peek(i int) (c byte, there, known bool) {
	if i < len(l.buf) {
		return l.buf[i], true, true
	}
	return 0, false, l.over
}

// scan finds the end of the line, at end, and the start of the next line, at next.
func (l *Lines) scan() (end, next int, found bool, err error) {
	for l.at < len(l.buf) {
		c := l.buf[l.at]
		if c == '\\' || c == '\r' && (l.Format.CSV || l.ends == unknownEnd || l.ends == endsCRNL) { // the next character may matter
			if _, _, known := l.peek(l.at + 1); !known {
				return 0, 0, false, nil
			}
		}
		was := l.at
		if c == '\\' && (!l.Format.CSV || l.first) && l.dotAt(was+1) {
			next, isEnd, known, err := l.mark(was + 2)
			if err != nil || !known {
				return 0, 0, false, err
			}
			if isEnd {
				l.ended = true
				return was, next, true, nil
			}
		}
		l.quotes(c)
		l.at++
		l.first = false
		switch {
		case l.quoted:
		case c == '\r':
			next, err := l.carriage()
			return was, next, err == nil, err
		case c == '\n':
			if l.ends == endsCR || l.ends == endsCRNL {
				return 0, 0, false, l.stray("newline", "n")
			}
			l.ends = endsNL
			return was, l.at, true, nil
		case c == '\\' && !l.Format.CSV && l.at < len(l.buf):
			l.at++ // not the end of a line
		}
	}
	return 0, 0, false, nil
}

// quotes tracks the state of CSV quotes.
func (l *Lines) quotes(c byte) {
	f := l.Format
	if !f.CSV {
		return
	}
	escape := f.Escape
	apart := escape != f.Quote
	if l.quoted && apart && c == escape {
		l.escaped = !l.escaped
	}
	if c == f.Quote && !l.escaped {
		l.quoted = !l.quoted
	}
	if !apart || c != escape {
		l.escaped = false
	}
	ending := byte('\r')
	if l.ends == endsNL {
		ending = '\n'
	}
	if l.quoted && c == ending {
		l.Number++
	}
}

func (l *Lines) dotAt(i int) bool {
	c, there, _ := l.peek(i)
	return there && c == '.'
}

// mark examines the text after \. at i, which is the end marker or, in CSV, possibly data.
func (l *Lines) mark(i int) (next int, isEnd, known bool, err error) {
	wrong := func(text string) (int, bool, bool, error) {
		if l.Format.CSV {
			return 0, false, true, nil
		}
		return 0, false, true, malformed("%s", text)
	}
	c, _, known := l.peek(i)
	if !known {
		return 0, false, false, nil
	}
	if l.ends == endsCRNL {
		switch i++; c {
		case '\r':
		case '\n':
			return wrong("end-of-copy marker does not match previous newline style")
		default:
			return wrong("end-of-copy marker corrupt")
		}
		if c, _, known = l.peek(i); !known {
			return 0, false, false, nil
		}
	}
	i++
	if c != '\r' && c != '\n' {
		return wrong("end-of-copy marker corrupt")
	}
	if l.ends == endsNL && c != '\n' || l.ends == endsCRNL && c != '\n' || l.ends == endsCR && c != '\r' {
		return 0, false, true, malformed("end-of-copy marker does not match previous newline style")
	}
	return i, true, true, nil
}

// carriage handles a \r that was just passed: it ends the line, with or without a
// .
func (l *Lines) carriage() (next int, err error) {
	switch l.ends {
	case endsNL:
		return 0, l.stray("carriage return", "r")
	case endsCR:
		return l.at, nil
	}
	if c, there, _ := l.peek(l.at); there && c == '\n' {
		l.ends = endsCRNL
		return l.at + 1, nil
	}
	if l.ends == endsCRNL {
		return 0, l.stray("carriage return", "r")
	}
	l.ends = endsCR
	return l.at, nil
}

// stray returns the error for a line terminator of a different style.
func (l *Lines) stray(what, letter string) error {
	if l.Format.CSV {
		return malformed("unquoted %s found in data", what).WithHint("Use quoted CSV field to represent %s.", what)
	}
	return malformed("literal %s found in data", what).WithHint(`Use "\%s" to represent %s.`, letter, what)
}
