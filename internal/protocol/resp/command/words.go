package command

// Words reads arguments from the left. The first thing that is wrong stays in Err: what is read
// after it is zero.
type Words struct {
	Rest [][]byte // what is not read yet
	Err  error
	last []byte // read last
}

// Fail keeps err, unless something was wrong before, and reads no more.
func (w *Words) Fail(err error) {
	if w.Err == nil {
		w.Err = err
	}
	w.Rest = nil
}

// More reports whether there is another.
func (w *Words) More() bool { return len(w.Rest) > 0 }

// Next is the next one; it is a syntax error when there is none.
func (w *Words) Next() []byte {
	if len(w.Rest) == 0 {
		w.CutOff()
		return nil
	}
	w.last = w.Rest[0]
	w.Rest = w.Rest[1:]
	return w.last
}

// CutOff fails because more has to follow what was read last.
func (w *Words) CutOff() {
	if w.last == nil {
		w.Fail(ErrSyntax)
		return
	}
	w.Fail(Errorf("ERR syntax error, something is missing after '%s'", Quoted(w.last)))
}

// Unknown fails because of what was read last.
func (w *Words) Unknown() { w.Fail(Errorf("ERR syntax error near '%s'", Quoted(w.last))) }

// Number is the next one as a number from 0 to most.
func (w *Words) Number(most int64) int64 {
	n, ok := Integer(w.Next())
	switch {
	case w.Err != nil:
		return 0
	case !ok || n > most:
		w.Fail(ErrNotInteger)
		return 0
	case n < 0:
		w.Fail(ErrNotPositive)
		return 0
	}
	return n
}

// Positive is the next one as a number from 1 to most.
func (w *Words) Positive(most int64) int64 {
	n := w.Number(most)
	if w.Err == nil && n == 0 {
		w.Fail(ErrNotPositive)
	}
	return n
}

// mostMS is the longest time that a job waits or is locked, ms: a thousand years. The sum with a
// time of today is far from any bound.
const mostMS = 1000 * 366 * 24 * 3600 * 1000

// MS is the next one as a span in ms.
func (w *Words) MS() int64 { return w.Number(mostMS) }

// Keyword is the next one, the name of an option, in capitals.
func (w *Words) Keyword() string { return Capitals(w.Next()) }

// longestOption is at least as long as the longest name of an option.
const longestOption = 32

// Capitals is b in capitals when it is not too long for the name of an option, else "".
func Capitals(b []byte) string {
	var text [longestOption]byte
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
