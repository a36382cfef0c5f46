package resp

import "fiveways/internal/broker"

const (
	errNotPositive replyError = "ERR value is out of range, must be positive"
	errMID         replyError = "ERR a job's id has 1 to 255 bytes"
)

// mostMS is the longest time that a job waits or is locked, ms: a thousand years. The sum with a time of today is far from any bound.
const mostMS = 1000 * 366 * 24 * 3600 * 1000

// words reads arguments from the left. The first thing that is wrong stays: what is read after it is zero.
type words struct {
	args [][]byte
	last []byte // read last
	err  error
}

func (w *words) fail(err error) {
	if w.err == nil {
		w.err = err
	}
	w.args = nil
}

// more tells whether there is another.
func (w *words) more() bool { return len(w.args) > 0 }

// next is the next one; it is a syntax error when there is none.
func (w *words) next() []byte {
	if len(w.args) == 0 {
		w.cutOff()
		return nil
	}
	w.last = w.args[0]
	w.args = w.args[1:]
	return w.last
}

// cutOff fails because more has to follow what was read last.
func (w *words) cutOff() {
	if w.last == nil {
		w.fail(errSyntax)
		return
	}
	w.fail(errorf("ERR syntax error, something is missing after '%s'", cut(w.last, mostQuoted)))
}

// unknown fails because of what was read last.
func (w *words) unknown() { w.fail(errorf("ERR syntax error near '%s'", cut(w.last, mostQuoted))) }

// number is the next one as a number from 0 to most.
func (w *words) number(most int64) int64 {
	n, ok := integer(w.next())
	switch {
	case w.err != nil:
		return 0
	case !ok || n > most:
		w.fail(errNotInteger)
		return 0
	case n < 0:
		w.fail(errNotPositive)
		return 0
	}
	return n
}

// ms is the next one as a span in ms.
func (w *words) ms() int64 { return w.number(mostMS) }

// mid is the next one as the id of a job.
func (w *words) mid() []byte {
	b := w.next()
	if w.err == nil && (len(b) == 0 || len(b) > broker.MaxJobID) {
		w.fail(errMID)
		return nil
	}
	return b
}

// keyword is the next one, the name of an option, in capitals.
func (w *words) keyword() string { return capitals(w.next()) }

// capitals is b in capitals when it is not too long for the name of an option, else "".
func capitals(b []byte) string {
	var text [longestName]byte
	if len(b) > len(text) {
		return ""
	}
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		text[i] = c
	}
	return string(text[:len(b)])
}
