package queue

// Packing packs a queue's messages whenever they take more memory than the queue's share.
type Packing struct {
	keep, left int64 // the share in the last call of Pack, and the memory that it left
	more       bool
}

// spillStep is how many bytes of messages one call spills at most, because it blocks the shard.
const spillStep = 4 << 20

// Due reports whether to call Pack with this share: the messages exceed it by a quarter, and exceed
// by a quarter what the last call left. Packing a little at a time would look at the same chunks
// repeatedly, and what could not be packed before cannot be packed now. Without excess, More is
// false from then on.
func (p *Packing) Due(s *Deliveries, keep int64) bool {
	hot := s.HotBytes()
	if hot <= keep+keep/4 {
		p.more = false
	}
	return p.more || hot > keep+keep/4 && (p.keep != keep || hot > p.left+p.left/4)
}

// Pack is Cool, but stops once it has spilled spillStep.
func (p *Packing) Pack(s *Deliveries, written uint64, keep int64, spill func(*Item) (index uint64, sub uint32, ok bool)) {
	to := keep
	if spill != nil {
		to = max(keep, s.HotBytes()-spillStep)
	}
	s.Cool(written, to, spill)
	p.keep, p.left = keep, s.HotBytes()
	p.more = keep < to && p.left <= to
}

// More reports whether the last call of Pack stopped early. It should soon be repeated.
func (p *Packing) More() bool { return p.more }
