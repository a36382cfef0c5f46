package definitions

import (
	"bufio"
	"encoding/binary"
	"io"

	"fiveways.dev/fiveways/internal/core/shardstate"
)

// readFacts calls fn for each length-prefixed fact of a checkpoint.
func readFacts(r io.Reader, fn func([]byte) error) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var buf []byte
	for {
		n, err := binary.ReadUvarint(br)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if n > maxFactBytes {
			return shardstate.ErrMalformed
		}
		if uint64(cap(buf)) < n {
			buf = make([]byte, n)
		}
		buf = buf[:n]
		if _, err := io.ReadFull(br, buf); err != nil {
			return err
		}
		if err := fn(buf); err != nil {
			return err
		}
	}
}

// maxFactBytes limits the allocation for a damaged length.
const maxFactBytes = 1 << 30
