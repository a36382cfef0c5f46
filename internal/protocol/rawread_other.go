//go:build !unix

package protocol

import "errors"

// canReadRaw is false: connections hold their buffer while they wait.
const canReadRaw = false

func rawRead(uintptr, []byte) (int, error) { return 0, errors.ErrUnsupported }
