package broker

import "fiveways/internal/core/queue"

// AckConfirmed is Ack with a confirm: Confirmed is called for seq once the end of the n deliveries
// is durable. ok is false when none of them was there any more, or the log has failed.
func (s *Session) AckConfirmed(q *Queue, c *Consumer, h queue.Handle, n int, confirm Confirmer, seq uint64) {
	s.gather(q.shard, op{kind: opAck, queue: q, consumer: c, handle: h, n: uint32(n), confirm: confirm, seq: seq})
}

// confirmAck answers an acknowledgement that settled n messages; logged: a fact records that.
func (sh *shard) confirmAck(o *op, n int, logged bool) {
	switch {
	case o.confirm == nil:
	case logged:
		sh.entry.confirm(o.confirm, o.seq, o.queue.promise)
	default:
		sh.answer(o.confirm, o.seq, n > 0)
	}
}
