package selector

import "fmt"

// Error reports where a text is not a valid selector, and why.
type Error struct {
	At   int    // position in characters, from 1
	Text string // what was expected
}

func (e *Error) Error() string { return fmt.Sprintf("selector: at %d: %s", e.At, e.Text) }
