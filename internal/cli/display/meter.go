package display

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Meter shows the progress of long work on a terminal: a bar if the total is known, and the rate.
// If the output is not a terminal it shows nothing. It is not safe for concurrent use.
type Meter struct {
	out         io.Writer // nil if it is not a terminal
	unit        func(int64) string
	start, last time.Time
	begun, done int64
}

// meterRound is the minimum interval between redraws.
const meterRound = 100 * time.Millisecond

// NewMeter returns a meter on out. unit formats an amount.
func NewMeter(out io.Writer, unit func(int64) string) *Meter {
	m := &Meter{unit: unit}
	if IsTerminal(out) {
		m.out = out
	}
	return m
}

// Shows reports whether the meter is displayed.
func (m *Meter) Shows() bool { return m.out != nil }

// Set sets how much is done, and the total, which is 0 if it is unknown.
func (m *Meter) Set(done, whole int64) {
	now := time.Now()
	if m.start.IsZero() || done < m.done { // less than before: different work has begun
		m.start, m.begun = now, done
	}
	m.done = done
	if m.out == nil || now.Sub(m.last) < meterRound {
		return
	}
	m.last = now
	fmt.Fprintf(m.out, "\r%s\x1b[K", m.line(whole, now.Sub(m.start)))
}

// barWidth is the width of a full bar in characters.
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

// End removes the meter from the terminal.
func (m *Meter) End() {
	if m.out != nil && !m.last.IsZero() {
		fmt.Fprint(m.out, "\r\x1b[K")
	}
}

// Reader returns a reader that shows on the meter how much of r was read. whole is the number of
// bytes in r, or 0 if it is unknown.
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
