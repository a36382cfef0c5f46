package queue

import "math/bits"

// chunkLen is the number of sequence numbers that a chunk spans.
const chunkLen = 256

// bitmap has one bit for each slot of a chunk.
type bitmap [chunkLen / 64]uint64

func (b *bitmap) has(slot int) bool { return b[uint8(slot)>>6]&(1<<(slot&63)) != 0 }
func (b *bitmap) set(slot int)      { b[uint8(slot)>>6] |= 1 << (slot & 63) }
func (b *bitmap) clear(slot int)    { b[uint8(slot)>>6] &^= 1 << (slot & 63) }
func (b *bitmap) empty() bool       { return b[0]|b[1]|b[2]|b[3] == 0 }

// clearBefore clears all slots before slot.
func (b *bitmap) clearBefore(slot int) {
	clear(b[:slot>>6])
	b[slot>>6] &^= 1<<(slot&63) - 1
}

func (b *bitmap) count() int {
	return bits.OnesCount64(b[0]) + bits.OnesCount64(b[1]) + bits.OnesCount64(b[2]) + bits.OnesCount64(b[3])
}

// from returns the first set slot at or after slot, chunkLen if there is none.
func (b *bitmap) from(slot int) int {
	if slot >= chunkLen {
		return chunkLen
	}
	i := slot >> 6
	w := b[i] >> (slot & 63) << (slot & 63)
	for w == 0 {
		if i++; i == len(b) {
			return chunkLen
		}
		w = b[i]
	}
	return i<<6 + bits.TrailingZeros64(w)
}

// between returns how many slots from lo up to but not including hi are set.
func (b *bitmap) between(lo, hi int) (n int) {
	for slot := b.from(lo); slot < hi; slot = b.from(slot + 1) {
		n++
	}
	return n
}

// last returns the last set slot, -1 if there is none.
func (b *bitmap) last() int {
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] != 0 {
			return i<<6 + 63 - bits.LeadingZeros64(b[i])
		}
	}
	return -1
}
