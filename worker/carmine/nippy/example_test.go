package nippy_test

import (
	"fmt"

	"fiveways.dev/fiveways/worker/carmine/nippy"
)

// A value of a Clojure program, there and back.
func Example() {
	frozen, err := nippy.Freeze("ann")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(nippy.Thaw(frozen))
	// Output: ann <nil>
}
