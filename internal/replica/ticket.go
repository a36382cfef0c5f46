package replica

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/replica/level"
)

// ErrTicketUsed means that another node has joined with a ticket.
var ErrTicketUsed = errors.New("replica: the token was used by another node; each node needs its own (fiveways cluster token)")

const (
	// ticketKept is how long a ticket is remembered after its expiry. It is longer than the clocks
	// of two leaders can differ, so that neither accepts a ticket that the other has forgotten.
	ticketKept = 24 * time.Hour
	// minUse is the minimum size of an encoded use of a ticket.
	minUse = 1 + len(Ticket{}.ID) + sha256.Size + 1
)

// Ticket admits one node to the cluster.
type Ticket struct {
	ID     [16]byte
	Until  time.Time         // expiry, to the second
	Key    [sha256.Size]byte // hash of the node's public key, which identifies the node
	Levels level.Range       // that the node supports
}

// use records which node joined with a ticket.
type use struct {
	node  uint64
	id    [16]byte
	key   [sha256.Size]byte
	until uint64 // expiry, in seconds since 1970
}

// admitted returns the node that joined with the ticket, or with another ticket and the same key:
// it asks again because the answer was lost. 0 means a new node. It is also returned for a node
// that had a vote, because it may have forgotten its promises. Errors: ErrTicketUsed.
func (m *membership) admitted(t Ticket) (node uint64, err error) {
	for _, u := range m.used {
		if u.key == t.Key && slices.Contains(m.GetLearners(), u.node) {
			return u.node, nil
		}
		if u.id == t.ID {
			err = ErrTicketUsed
		}
	}
	return 0, err
}

// appendTicket appends the ticket of a new node to a membership change, after its address: the
// ticket, and the time, which decides which tickets are forgotten.
func appendTicket(dst []byte, t Ticket, now time.Time) []byte {
	dst = appendUse(dst, use{id: t.ID, key: t.Key, until: uint64(t.Until.Unix())})
	return binary.AppendUvarint(dst, uint64(now.Unix()))
}

// takeTicket records the ticket that appendTicket wrote.
func (m *membership) takeTicket(node uint64, r *codec.Reader) {
	u := readUse(r)
	u.node = node
	now := r.Uvarint()
	m.used = slices.DeleteFunc(slices.Clone(m.used), func(u use) bool { return u.until+uint64(ticketKept/time.Second) < now })
	m.used = append(m.used, u)
}

func appendUse(dst []byte, u use) []byte {
	dst = append(append(dst, u.id[:]...), u.key[:]...)
	return binary.AppendUvarint(dst, u.until)
}

func readUse(r *codec.Reader) (u use) {
	copy(u.id[:], r.Bytes(len(u.id)))
	copy(u.key[:], r.Bytes(len(u.key)))
	u.until = r.Uvarint()
	return u
}

// appendUses appends the used tickets.
func (m *membership) appendUses(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(m.used)))
	for _, u := range m.used {
		dst = appendUse(binary.AppendUvarint(dst, u.node), u)
	}
	return dst
}

func (m *membership) readUses(r *codec.Reader) {
	for range r.Count(minUse) {
		node := r.Uvarint()
		u := readUse(r)
		u.node = node
		if node == 0 || node > m.highest {
			r.Fail(fmt.Errorf("a ticket of node %d", node))
		}
		m.used = append(m.used, u)
	}
}
