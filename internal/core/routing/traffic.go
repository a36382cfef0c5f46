package routing

import "sync/atomic"

// Traffic counts the messages that publishers sent to an exchange. An exchange has the same
// counters in all tables, as long as it exists.
type Traffic struct {
	In         atomic.Uint64 // messages
	Out        atomic.Uint64 // queues that they were routed to, in total
	Unroutable atomic.Uint64 // messages that were routed to no queue
}

// Add counts messages.
func (t *Traffic) Add(in, out, unroutable uint64) {
	t.In.Add(in)
	if out > 0 {
		t.Out.Add(out)
	}
	if unroutable > 0 {
		t.Unroutable.Add(unroutable)
	}
}

// Traffic returns the counters of the exchange.
func (x *Exchange) Traffic() *Traffic { return x.traffic }
