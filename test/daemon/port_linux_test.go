package daemon

import "testing"

// TestPortsDiffer checks that two ports of one process differ even while nothing listens on them: a
// broker may listen on the first one only after the second one was chosen.
func TestPortsDiffer(t *testing.T) {
	seen := map[int]bool{}
	for range 200 {
		port, err := FreePort()
		if err != nil {
			t.Fatal(err)
		}
		if seen[port] {
			t.Fatalf("port %d was given twice", port)
		}
		seen[port] = true
	}
}
