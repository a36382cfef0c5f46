package copytext

import "fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"

// Lines cuts what comes in pieces into lines. The first end of a line says how lines end: \n, \r\n
// or \r.
type Lines struct {
	Format *Format
	Limit  int // bytes of a line, more are an error; 0: any number

	Number int // of the line that is being read, from 1; lines within quotes count

	buf   []byte // was fed; the line begins at start, and up to at it was looked at
	start int
	at    int
	ends  lineEnd
	begun bool // of a line
	over  bool // nothing more is fed
	ended bool // nothing more is a line

	first, quoted, escaped bool // of CSV: at the first character; in quotes; behind an escape
}

type lineEnd byte

const (
	unknownEnd lineEnd = iota
	endsNL
	endsCRNL
	endsCR
)

// Feed adds what came; it keeps nothing of b.
func (l *Lines) Feed(b []byte) {
	if l.start > 0 {
		l.buf = l.buf[:copy(l.buf, l.buf[l.start:])]
		l.at, l.start = l.at-l.start, 0
	}
	l.buf = append(l.buf, b...)
}

// End tells that nothing more comes.
func (l *Lines) End() { l.over = true }

// Ended reports whether the last line was given, or the mark \. behind it was seen.
func (l *Lines) Ended() bool { return l.ended }

// Next returns the next line, without its end; false asks for more, or tells that it was Ended.
// Errors: 22P04 for ends of lines that differ from the first, 54000 for a line above the limit.
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

// peek returns the character at i; false: it is not there yet.
func (l *Lines) peek(i int) (c byte, there, known bool) {
	if i < len(l.buf) {
		return l.buf[i], true, true
	}
	return 0, false, l.over
}

// scan looks for the end of the line: it ends before end, and the next one begins at next.
func (l *Lines) scan() (end, next int, found bool, err error) {
	for l.at < len(l.buf) {
		c := l.buf[l.at]
		if c == '\\' || c == '\r' && (l.Format.CSV || l.ends == unknownEnd || l.ends == endsCRNL) { // what follows it may count
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
			l.at++ // whatever it is, it ends no line
		}
	}
	return 0, 0, false, nil
}

// quotes keeps account of the quotes of CSV.
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

// mark looks at what follows \. at i: the end of all, or in CSV it may be data.
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

// carriage is a \r that was just passed: it ends the line, with a \n or without.
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

// stray is the error of an end of line that is not one in this text.
func (l *Lines) stray(what, letter string) error {
	if l.Format.CSV {
		return malformed("unquoted %s found in data", what).WithHint("Use quoted CSV field to represent %s.", what)
	}
	return malformed("literal %s found in data", what).WithHint(`Use "\%s" to represent %s.`, letter, what)
}
