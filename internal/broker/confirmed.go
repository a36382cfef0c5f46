package broker

import (
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/core/queue"
)

// AckConfirmed is Ack with a confirm: Confirmed is called for seq once the settlement of the n
// deliveries is durable. Its ok is false if none of them existed any longer, or if the log has
// failed.
func (s *Session) AckConfirmed(q *shard.Queue, c *shard.Consumer, h queue.Handle, n int, confirm shardlog.Confirmer, seq uint64) {
	s.gather(q.Home(), shard.Op{Kind: shard.OpAck, Queue: q, Consumer: c, Handle: h, N: uint32(n), Confirm: confirm, Seq: seq})
}
