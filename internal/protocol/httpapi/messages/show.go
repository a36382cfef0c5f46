package messages

import (
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// shownAs returns the JSON form of a message of a queue, with its body cut to most bytes unless
// most is negative.
func shownAs(queueID uint64, b *inspect.Message, most int) Message {
	m := shownEnvelope(b.Env, most)
	m.ID = place{queueID, b.Handle}.String()
	m.State, m.Redelivered, m.Returns = b.Status.String(), b.Redelivered, b.Count
	if b.Status == queue.Scheduled {
		m.Due = timeText(b.Due)
	}
	if b.Expires != 0 {
		m.Expires = timeText(b.Expires)
	}
	m.Consumer = shownHolder(&b.Holder)
	return m
}

// shownEnvelope returns the part of the JSON form that comes from the message itself.
func shownEnvelope(env message.Envelope, most int) Message {
	exchange, key, raw, body := env.Split()
	m := Message{Exchange: string(exchange), RoutingKey: string(key), Bytes: len(body), Properties: map[string]any{}}
	if p, err := message.DecodeProperties(raw); err == nil {
		m.MessageID = p.MessageID
		m.Properties = shownProperties(&p)
		if p.Has(message.HasTimestamp) {
			m.Timestamp = secondsText(uint64(p.Timestamp))
		}
	}
	m.Payload, m.Encoding = rest.ShowBytes(body, most)
	return m
}

func shownHolder(h *inspect.Holder) *Holder {
	if *h == (inspect.Holder{}) {
		return nil
	}
	out := &Holder{Tag: h.Consumer, Connection: h.Session}
	if h.Until != 0 {
		out.LeaseUntil = timeText(h.Until)
	}
	return out
}

// latestSeconds is the last second of the year 9999, the latest that RFC 3339 can represent.
const latestSeconds = 253402300799

func secondsText(s uint64) string { return timeText(int64(min(s, latestSeconds)) * 1000) }
