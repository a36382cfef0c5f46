package command

// Words reads arguments from left to right. Err keeps the first error. After an error, all reads
// return zero values.
type Words struct {
	Rest [][]byte // not read yet
	Err  error
	last []byte // the argument read last
}

// Fail sets Err, unless it is set already, and stops reading.
func (w *Words) Fail(err error) {
	if w.Err == nil {
		w.Err = err
	}
	w.Rest = nil
}

// More reports whether there is another argument.
func (w *Words) More() bool { return len(w.Rest) > 0 }

// Next returns the next argument. If there is none, it fails with a syntax error.
func (w *Words) Next() []byte {
	if len(w.Rest) == 0 {
		w.CutOff()
		return nil
	}
	w.last = w.Rest[0]
	w.Rest = w.Rest[1:]
	return w.last
}

// CutOff fails because something must follow the argument read last.
func (w *Words) CutOff() {
	if w.last == nil {
		w.Fail(ErrSyntax)
		return
	}
	w.Fail(Errorf("ERR syntax error, something is missing after '%s'", Quoted(w.last)))
}

// Unknown fails because of the argument read last.
func (w *Words) Unknown() { w.Fail(Errorf("ERR syntax error near '%s'", Quoted(w.last))) }

// Number returns the next argument as a number from 0 to most.
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

// Positive returns the next argument as a number from 1 to most.
func (w *Words) Positive(most int64) int64 {
	n := w.Number(most)
	if w.Err == nil && n == 0 {
		w.Fail(ErrNotPositive)
	}
	return n
}

// mostMS is the longest time in ms that a job may wait or be locked: a thousand years. Adding it to
// the current time cannot overflow.
const mostMS = 1000 * 366 * 24 * 3600 * 1000

// MS returns the next argument as a duration in ms.
func (w *Words) MS() int64 { return w.Number(mostMS) }

// Keyword returns the next argument, which names an option, in capitals.
func (w *Words) Keyword() string { return Capitals(w.Next()) }

// longestOption is an upper bound for the length of an option's name.
const longestOption = 32

// Capitals returns b in capitals, or "" if b is too long for the name of an option.
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
