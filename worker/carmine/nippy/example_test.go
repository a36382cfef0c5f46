package nippy_test

import (
	"fmt"

	"fiveways.dev/fiveways/worker/carmine/nippy"
)

// This example freezes a value as a Clojure program does, and thaws it.
func Example() {
	frozen, err := nippy.Freeze("ann")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(nippy.Thaw(frozen))
	// Output: ann <nil>
}
