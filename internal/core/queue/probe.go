package queue

// Probe is the one message of a queue whose wait is being measured, from its arrival to its first
// delivery. The next message to arrive afterwards is measured next. Times are in unix ms.
type Probe struct {
	handle Handle // 0: none
	at     int64
}

// Arrived begins a measurement with this message, unless another one is measured.
func (p *Probe) Arrived(h Handle, now int64) {
	if p.handle == 0 {
		*p = Probe{h, now}
	}
}

// HandedOut ends the measurement if it is of this message, and returns how long the message has
// waited.
func (p *Probe) HandedOut(h Handle, now int64) (ms uint64, measured bool) {
	if h != p.handle {
		return 0, false
	}
	ms = uint64(max(now-p.at, 0))
	*p = Probe{}
	return ms, true
}

// Free ends the measurement if its message is gone without a delivery.
func (p *Probe) Free(s *Deliveries) {
	if p.handle != 0 && s.Status(p.handle) == Gone {
		*p = Probe{}
	}
}
