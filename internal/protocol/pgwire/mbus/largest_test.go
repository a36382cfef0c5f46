package mbus

import "testing"

// TestLargest: a message that is too large for the broker is refused, also when the statement that
// makes it is short.
func TestLargest(t *testing.T) {
	a, _, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 4)
	a.s.largest = int64(len(`"n"=>"1"`))
	a.call("post", "q", "n=>1")
	a.fails("a message of 9 bytes is larger than 8", "post", "q", "n=>12")
	a.consumes("q", `"n"=>"1"`)
}
