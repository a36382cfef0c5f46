//go:build !unix

package resp

import "time"

// cpuTime returns zeros, because CPU times are not known on this system.
func cpuTime() (system, user time.Duration) { return 0, 0 }
