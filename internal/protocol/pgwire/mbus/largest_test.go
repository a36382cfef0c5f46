package mbus

import "testing"

// TestLargest: a message larger than the broker's limit is refused, also if the statement that
// creates it is short.
func TestLargest(t *testing.T) {
	a, _, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 4)
	a.s.largest = int64(len(`"n"=>"1"`))
	a.call("post", "q", "n=>1")
	a.fails("a message of 9 bytes is larger than 8", "post", "q", "n=>12")
	a.consumes("q", `"n"=>"1"`)
}
