package nippy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

var signature = []byte("NPY")

// open removes the header and the compression.
func open(frozen []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(frozen, signature)
	if !ok || len(rest) < 2 {
		return nil, fmt.Errorf("nippy: %w: no header", ErrMalformed)
	}
	raw, err := decompress(rest[0], rest[1:])
	if err == nil && len(raw) > maxBytes {
		err = fmt.Errorf("nippy: %w: more than %d bytes", ErrMalformed, maxBytes)
	}
	return raw, err
}

func decompress(meta byte, packed []byte) ([]byte, error) {
	var raw []byte
	var err error
	switch meta {
	case 0:
		return packed, nil
	case 1:
		raw, err = unsnap(packed)
	case 8:
		raw, err = unlz4(packed)
	case 20:
		raw, err = unzstd(packed)
	case 11:
		return nil, fmt.Errorf("nippy: %w: compressed with LZMA2", ErrUnsupported)
	case 5:
		return nil, fmt.Errorf("nippy: %w: compressed with a compressor of the program's own", ErrUnsupported)
	default:
		if meta > 23 {
			return nil, fmt.Errorf("nippy: %w: no header has the number %d", ErrMalformed, meta)
		}
		return nil, fmt.Errorf("nippy: %w: encrypted", ErrUnsupported)
	}
	if err != nil {
		return nil, fmt.Errorf("nippy: %w: decompress: %w", ErrMalformed, err)
	}
	return raw, nil
}

// room checks an announced size against the best ratio of a compressor, so that small input cannot
// cause a large allocation.
func room(size, packed, ratio int) error {
	if size < 0 || size > maxBytes || size/ratio > packed {
		return fmt.Errorf("%d bytes are announced by %d", size, packed)
	}
	return nil
}

func unsnap(packed []byte) ([]byte, error) {
	size, err := s2.DecodedLen(packed)
	if err == nil {
		err = room(size, len(packed), 22) // three bytes copy 64
	}
	if err != nil {
		return nil, err
	}
	return s2.Decode(make([]byte, size), packed)
}

func unlz4(packed []byte) ([]byte, error) {
	if len(packed) < 4 {
		return nil, fmt.Errorf("%d bytes", len(packed))
	}
	size := int(int32(binary.BigEndian.Uint32(packed)))
	if err := room(size, len(packed), 256); err != nil { // each further byte extends a match by 255
		return nil, err
	}
	raw := make([]byte, size)
	n, err := lz4.UncompressBlock(packed[4:], raw)
	if err == nil && n != size {
		err = fmt.Errorf("%d bytes are announced, and %d there", size, n)
	}
	return raw, err
}

var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBytes), zstd.WithDecoderLowmem(true))
})

func unzstd(packed []byte) ([]byte, error) {
	d, err := zstdDecoder()
	if err != nil {
		return nil, err
	}
	return d.DecodeAll(packed, nil)
}
