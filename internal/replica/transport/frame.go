package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

const (
	frameHeader   = 8
	maxFrame      = 264 << 20 // an entry of the log has at most 256 MiB
	maxHello      = 4 << 10
	keptBuffer    = 1 << 20 // a buffer that grew beyond this is not kept
	recordMessage = 1       // the first byte of a payload
	recordProto   = 2
	recordPing    = 3
	recordPong    = 4
	recordTimely  = 5
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Errors of a peer that violates the format.
var (
	ErrFrameTooLong = errors.New("transport: frame is too long")
	ErrChecksum     = errors.New("transport: checksum of a frame differs")
)

// beginFrame reserves space for a frame header, which endFrame fills in.
func beginFrame(buf []byte) []byte { return append(buf, make([]byte, frameHeader)...) }

// endFrame completes the frame that begins at start.
func endFrame(buf []byte, start int) {
	payload := buf[start+frameHeader:]
	binary.LittleEndian.PutUint32(buf[start:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(buf[start+4:], crc32.Checksum(payload, castagnoli))
}

// readFrame reads one frame of at most most bytes into a new buffer, because messages keep slices
// of it. It returns ErrFrameTooLong, ErrChecksum, or an error of r.
func readFrame(r io.Reader, most uint32) ([]byte, error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > most {
		return nil, fmt.Errorf("%w: %d bytes of at most %d", ErrFrameTooLong, n, most)
	}
	payload, err := readN(r, int(n))
	if err != nil {
		return nil, err
	}
	if crc32.Checksum(payload, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, ErrChecksum
	}
	return payload, nil
}

// firstRead bounds the bytes allocated for a frame before any of its payload has arrived.
const firstRead = 64 << 10

func readN(r io.Reader, n int) ([]byte, error) {
	buf := make([]byte, min(n, firstRead))
	for at := 0; ; {
		if _, err := io.ReadFull(r, buf[at:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if at = len(buf); at == n {
			return buf, nil
		}
		grown := make([]byte, min(n, 8*at))
		copy(grown, buf)
		buf = grown
	}
}
