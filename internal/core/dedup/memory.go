package dedup

import "crypto/sha256"

// Key is a hash of a value that duplicates share: the first 128 bits of its SHA-256.
type Key [16]byte

// KeyOf returns the key of a value.
func KeyOf(value []byte) Key {
	sum := sha256.Sum256(value)
	return Key(sum[:len(Key{})])
}

// Memory holds the most recently remembered keys. It belongs to one goroutine.
type Memory struct {
	limit int
	known map[Key]uint64 // number of the newest call for each key
	ring  []call         // the calls next-n .. next-1, each at its number modulo the length, which is a power of two
	n     int
	next  uint64 // number of the next call
}

type call struct {
	key   Key
	until int64 // unix ms, 0: forever
}

// New returns an empty memory for limit keys, at least one.
func New(limit int) *Memory {
	return &Memory{limit: max(limit, 1), known: map[Key]uint64{}}
}

// Len returns the number of keys, some of which may have expired.
func (m *Memory) Len() int { return len(m.known) }

// Known reports whether the key is remembered at now, unix ms.
func (m *Memory) Known(key Key, now int64) bool {
	number, ok := m.known[key]
	if !ok {
		return false
	}
	until := m.at(number).until
	return until == 0 || now < until
}

// Remember remembers the key until a time in unix ms (0: forever), or until limit other keys have
// followed. at is the time of the call.
func (m *Memory) Remember(key Key, at, until int64) {
	for m.n > 0 && (m.n == m.limit || m.oldestIsOver(at)) {
		m.forget()
	}
	m.push(call{key, until})
}

func (m *Memory) push(c call) {
	if m.n == len(m.ring) {
		m.grow()
	}
	*m.at(m.next) = c
	m.known[c.key] = m.next
	m.next++
	m.n++
}

func (m *Memory) at(number uint64) *call { return &m.ring[number&uint64(len(m.ring)-1)] }

func (m *Memory) oldest() uint64 { return m.next - uint64(m.n) }

func (m *Memory) oldestIsOver(at int64) bool {
	until := m.at(m.oldest()).until
	return until != 0 && until <= at
}

// forget drops the oldest call, and its key unless a newer call has it.
func (m *Memory) forget() {
	number := m.oldest()
	if key := m.at(number).key; m.known[key] == number {
		delete(m.known, key)
	}
	m.n--
}

// firstRing is the first size of the ring.
const firstRing = 8

func (m *Memory) grow() {
	ring := make([]call, max(firstRing, 2*len(m.ring)))
	for number := m.oldest(); number < m.next; number++ {
		ring[number&uint64(len(ring)-1)] = *m.at(number)
	}
	m.ring = ring
}
