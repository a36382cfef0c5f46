package mbus

import (
	"fiveways.dev/fiveways/internal/core/dispatch"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// OrderOf is the place of a message in its queue, by added and then by delayed_until:
// broker.Options.Order. A message that SQL has not posted says none.
func OrderOf(m message.Envelope) (at dispatch.Place, ok bool) {
	v := &viewed{}
	v.exchange, v.key, v.props, v.body = m.Split()
	var h header
	h.read(v)
	if h.enqueued == "" {
		return at, false
	}
	added := h.time(h.enqueued, 0)
	return placeIn(added, h.time(h.delayed, added-hour)), true
}

func placeIn(added, delayed value.Timestamp) dispatch.Place {
	return dispatch.Place{At: int64(added), Tie: int64(delayed)}
}
