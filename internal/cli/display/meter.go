package display

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Meter shows on a terminal how far long work has come: a bar where the whole is known, and how
// fast it goes. Elsewhere it shows nothing. It is of one goroutine.
type Meter struct {
	out         io.Writer // nil: no terminal
	unit        func(int64) string
	start, last time.Time
	begun, done int64
}

// meterRound is how often a meter is drawn of at most.
const meterRound = 100 * time.Millisecond

// NewMeter makes a meter on out. unit words a number of what is counted.
func NewMeter(out io.Writer, unit func(int64) string) *Meter {
	m := &Meter{unit: unit}
	if IsTerminal(out) {
		m.out = out
	}
	return m
}

// Shows reports whether anybody sees the meter.
func (m *Meter) Shows() bool { return m.out != nil }

// Set says how much is done, and of how much; a whole of 0 is unknown.
func (m *Meter) Set(done, whole int64) {
	now := time.Now()
	if m.start.IsZero() || done < m.done { // less than before: it is of something else now
		m.start, m.begun = now, done
	}
	m.done = done
	if m.out == nil || now.Sub(m.last) < meterRound {
		return
	}
	m.last = now
	fmt.Fprintf(m.out, "\r%s\x1b[K", m.line(whole, now.Sub(m.start)))
}

// barWidth is that of a whole bar, in characters.
const barWidth = 30

func (m *Meter) line(whole int64, took time.Duration) string {
	speed := ""
	if took >= time.Second {
		speed = ", " + m.unit(int64(float64(m.done-m.begun)/took.Seconds())) + "/s"
	}
	if whole <= 0 {
		return m.unit(m.done) + speed
	}
	part := min(float64(m.done)/float64(whole), 1)
	full := int(part * barWidth)
	return fmt.Sprintf("[%s%s] %3.0f %%  %s of %s%s", strings.Repeat("#", full), strings.Repeat(" ", barWidth-full), part*100, m.unit(m.done), m.unit(whole), speed)
}

// End takes the meter off the terminal.
func (m *Meter) End() {
	if m.out != nil && !m.last.IsZero() {
		fmt.Fprint(m.out, "\r\x1b[K")
	}
}

// Reader counts on the meter what is read of r, which has this many bytes; 0 is unknown.
func (m *Meter) Reader(r io.Reader, whole int64) io.Reader { return &meteredReader{r, m, whole} }

type meteredReader struct {
	io.Reader
	m     *Meter
	whole int64
}

func (r *meteredReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.m.Set(r.m.done+int64(n), r.whole)
	return n, err
}
