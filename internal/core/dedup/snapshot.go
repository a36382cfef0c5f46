package dedup

import (
	"encoding/binary"
	"errors"
	"fmt"

	"fiveways.dev/fiveways/internal/core/codec"
)

// ErrCorrupt is returned by Restore for bytes that AppendTo has not written.
var ErrCorrupt = errors.New("dedup: corrupt snapshot")

// AppendTo appends a snapshot to dst: for each call, oldest first, the key and, as a varint, the
// difference between until and that of the previous call.
func (m *Memory) AppendTo(dst []byte) []byte {
	before := int64(0)
	for number := m.oldest(); number < m.next; number++ {
		c := m.at(number)
		dst = append(dst, c.key[:]...)
		dst = binary.AppendVarint(dst, c.until-before)
		before = c.until
	}
	return dst
}

// Restore replaces the contents with those of a snapshot. On an error, which wraps ErrCorrupt, the
// memory is empty. The limit stays; if the snapshot holds more, the newest are kept.
func (m *Memory) Restore(b []byte) error {
	*m = *New(m.limit)
	r := codec.NewReader(b)
	for before := int64(0); r.Len() > 0; {
		var c call
		left := r.Len()
		copy(c.key[:], r.Bytes(len(c.key)))
		c.until = before + r.Varint()
		if r.Err() != nil || c.until < 0 {
			*m = *New(m.limit)
			return fmt.Errorf("%w: %d bytes left", ErrCorrupt, left)
		}
		before = c.until
		if m.n == m.limit {
			m.forget()
		}
		m.push(c)
	}
	return nil
}

// Hash returns a fingerprint of the contents.
func (m *Memory) Hash() uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	mix := func(v uint64) {
		h = (h ^ v) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	for number := m.oldest(); number < m.next; number++ {
		c := m.at(number)
		mix(binary.LittleEndian.Uint64(c.key[:8]))
		mix(binary.LittleEndian.Uint64(c.key[8:]))
		mix(uint64(c.until))
	}
	return h
}
