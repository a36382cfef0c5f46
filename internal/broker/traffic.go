package broker

import "fiveways.dev/fiveways/internal/core/routing"

// routed counts what a session has routed since it last updated the shared counters, which it does
// once for many messages.
type routed struct {
	exchange            *routing.Traffic
	in, out, unroutable uint64
}

// count counts a message that was routed to n queues.
func (s *Session) count(exchange *routing.Traffic, n int) {
	r := &s.routed
	if r.exchange != exchange {
		s.tellRouted()
		r.exchange = exchange
	}
	r.in++
	r.out += uint64(n)
	if n == 0 {
		r.unroutable++
	}
}

// tellRouted adds these counts to the counters of the exchange and of the virtual host.
func (s *Session) tellRouted() {
	r := &s.routed
	if r.in == 0 {
		return
	}
	r.exchange.Add(r.in, r.out, r.unroutable)
	s.vhost.Traffic().Add(r.in, r.out, r.unroutable)
	*r = routed{exchange: r.exchange}
}
