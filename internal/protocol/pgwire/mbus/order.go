package mbus

import (
	"fiveways.dev/fiveways/internal/core/dispatch"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
)

const hour = temporal.Timestamp(3600 * 1e6)

// OrderOf returns the place of a message in its queue, ordered by added and then delayed_until. It
// is used as broker.Options.Order. For a message that SQL has not posted, ok is false.
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

func placeIn(added, delayed temporal.Timestamp) dispatch.Place {
	return dispatch.Place{At: int64(added), Tie: int64(delayed)}
}
