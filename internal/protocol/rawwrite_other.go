//go:build !unix

package protocol

import "errors"

// canWriteRaw is false: there is no rawWrite.
const canWriteRaw = false

func rawWrite(uintptr, []byte) (int, error) {
	return 0, errors.ErrUnsupported
}
