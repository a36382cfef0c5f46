//go:build !unix

package protocol

import "errors"

// canWriteRaw tells that rawWrite works.
const canWriteRaw = false

func rawWrite(uintptr, []byte) (int, error) {
	return 0, errors.ErrUnsupported
}
