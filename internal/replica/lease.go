package replica

import (
	"encoding/binary"
	"time"

	"go.etcd.io/raft/v3"
)

// leaseFor is how long a leader may act alone after a quorum has confirmed it. It is shorter than
// the time after which any follower campaigns, by more than the clocks can drift apart meanwhile.
const leaseFor = 700 * time.Millisecond

// read is a request to a quorum to confirm the leadership of this node.
type read struct {
	seq  uint64
	at   time.Duration // when the request was sent
	done []func(error)
}

// ask asks a quorum to confirm the leadership of this node. The answer grants a lease that counts
// from now.
func (c *core) ask(done []func(error)) {
	if c.leadTerm == 0 {
		tell(done, ErrNotLeader)
		return
	}
	c.readSeq++
	c.reads = append(c.reads, read{seq: c.readSeq, at: c.now(), done: done})
	c.raw.ReadIndex(binary.BigEndian.AppendUint64(nil, c.readSeq))
}

// answered handles the answer of a quorum, which confirms all requests up to this one.
func (c *core) answered(ctx []byte) {
	if len(ctx) != 8 {
		return
	}
	seq := binary.BigEndian.Uint64(ctx)
	for len(c.reads) > 0 && c.reads[0].seq <= seq {
		r := c.reads[0]
		c.reads = c.reads[1:]
		if c.leading != nil && c.raw.BasicStatus().LeadTransferee == raft.None && uint64(c.ticks) >= c.lentAgain() {
			c.leading.lend(r.at + leaseFor)
		}
		tell(r.done, nil)
	}
}

// lentAgain returns the first tick at which a lease is possible after an attempt to transfer the
// leadership: until then the other node may have been told to campaign.
func (c *core) lentAgain() uint64 {
	if c.transfer == 0 {
		return 0
	}
	return c.transfer + 3*electionTicks
}
