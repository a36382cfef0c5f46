package selector

import "fmt"

// Error says where a text is not a selector, and why.
type Error struct {
	At   int    // characters, from 1
	Text string // what was expected
}

func (e *Error) Error() string { return fmt.Sprintf("selector: at %d: %s", e.At, e.Text) }
