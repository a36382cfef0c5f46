package backend

import (
	"bytes"
	"encoding/binary"
)

const (
	// chunkBytes is the size of a chunk's memory. A larger record gets a chunk of its own.
	chunkBytes = 1 << 20
	// recordHead is the length of a key (1 byte) and of a value (4 bytes) before each record.
	recordHead = 5
	slotBytes  = 4
)

// chunk is a sequence of records in one memory region: records from the front, their offsets
// (slots) from the back.
//
// After publication only the part after the records that views can see is written: mem beyond used,
// and n and used of the last chunk. Everything else is changed in a copy of the struct that shares
// mem.
type chunk struct {
	mem   []byte
	first uint64 // prefix of the first key
	n     int    // number of records; views do not read it from their last chunk
	used  int    // bytes of records

	dead      []uint64 // a bit for each deleted record; may be shorter than n
	deadN     int
	deadBytes int
}

func recordBytes(key, value []byte) int { return recordHead + len(key) + len(value) }

// newChunk returns an empty chunk with room for at least one record of the given size.
func newChunk(room int) *chunk {
	size := chunkBytes
	if need := room + slotBytes; need > size {
		size = (need + 4095) &^ 4095
	}
	return &chunk{mem: newRegion(size)}
}

func (c *chunk) fits(record int) bool { return c.used+record+slotBytes*(c.n+1) <= len(c.mem) }

// add appends a record. The caller has checked that it fits.
func (c *chunk) add(key, value []byte) {
	if c.n == 0 {
		c.first = prefix(key)
	}
	at := c.used
	c.mem[at] = byte(len(key))
	binary.LittleEndian.PutUint32(c.mem[at+1:], uint32(len(value)))
	at += recordHead
	at += copy(c.mem[at:], key)
	at += copy(c.mem[at:], value)
	binary.LittleEndian.PutUint32(c.mem[len(c.mem)-slotBytes*(c.n+1):], uint32(c.used))
	c.used = at
	c.n++
}

func (c *chunk) offset(i int) int {
	return int(binary.LittleEndian.Uint32(c.mem[len(c.mem)-slotBytes*(i+1):]))
}

func (c *chunk) key(i int) []byte {
	at := c.offset(i)
	begin := at + recordHead
	end := begin + int(c.mem[at])
	return c.mem[begin:end:end]
}

func (c *chunk) record(i int) (key, value []byte) {
	at := c.offset(i)
	begin := at + recordHead
	middle := begin + int(c.mem[at])
	end := middle + int(binary.LittleEndian.Uint32(c.mem[at+1:]))
	return c.mem[begin:middle:middle], c.mem[middle:end:end]
}

func (c *chunk) isDead(i int) bool {
	return i>>6 < len(c.dead) && c.dead[i>>6]&(1<<(i&63)) != 0
}

// kill marks a record as deleted and returns its size in bytes. The caller owns c.
func (c *chunk) kill(i int) int {
	for i>>6 >= len(c.dead) {
		c.dead = append(c.dead, 0)
	}
	c.dead[i>>6] |= 1 << (i & 63)
	key, value := c.record(i)
	c.deadN++
	c.deadBytes += recordBytes(key, value)
	return recordBytes(key, value)
}

// clone returns a copy that can be changed while others read c.
func (c *chunk) clone() *chunk {
	d := *c
	d.dead = append([]uint64(nil), c.dead...)
	return &d
}

// prefix returns the first eight bytes of a key as a number: the main revision.
func prefix(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// seek returns the first of n records whose key is not less than key. Revisions are usually spread
// evenly: the search starts where the key would then be, and doubles its steps from there.
func (c *chunk) seek(n int, key []byte) int {
	if n == 0 {
		return 0
	}
	below := func(i int) bool { return bytes.Compare(c.key(i), key) < 0 }
	lo, hi := 0, n // all before lo are less than key, none from hi on
	if guess := c.guess(n, key); below(guess) {
		lo = guess + 1
		for step := 1; lo < n; step *= 2 {
			if next := min(lo+step-1, n-1); !below(next) {
				hi = next
				break
			} else {
				lo = next + 1
			}
		}
	} else {
		hi = guess
		for step := 1; hi > 0; step *= 2 {
			if next := max(hi-step, 0); below(next) {
				lo = next + 1
				break
			} else {
				hi = next
			}
		}
	}
	for lo < hi {
		if middle := int(uint(lo+hi) >> 1); below(middle) {
			lo = middle + 1
		} else {
			hi = middle
		}
	}
	return lo
}

func (c *chunk) guess(n int, key []byte) int {
	first, last, at := c.first, prefix(c.key(n-1)), prefix(key)
	switch {
	case at <= first:
		return 0
	case at >= last:
		return n - 1
	}
	return int(float64(at-first) / float64(last-first) * float64(n-1))
}
