package jobs

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strconv"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
)

// The properties of a job, as an AMQP client would write them.
const jobProps = message.HasHeaders | message.HasDeliveryMode | message.HasMessageID

// jobEnvelope returns the message of a job. first is the position reserved for the first-enqueued
// time.
func jobEnvelope(e *Enqueue) (env message.Envelope, first int) {
	flags := jobProps
	if e.Priority > 0 {
		flags |= message.HasPriority
	}
	if e.TTL > 0 {
		flags |= message.HasExpiration
	}
	var room [128]byte
	p := binary.BigEndian.AppendUint16(room[:0], uint16(flags))
	headers := len(p)
	p = append(p, 0, 0, 0, 0)
	p = append(message.AppendShortStr(p, firstHeader), 'l')
	first = len(p)
	p = binary.BigEndian.AppendUint64(p, 0)
	if e.Lock > 0 {
		p = append(message.AppendShortStr(p, lockHeader), 'l')
		p = binary.BigEndian.AppendUint64(p, uint64(e.Lock))
	}
	if len(e.Headers) > 0 {
		p = append(p, message.AppendTable(nil, e.Headers)[4:]...)
	}
	binary.BigEndian.PutUint32(p[headers:], uint32(len(p)-headers-4))
	p = append(p, message.Persistent)
	if e.Priority > 0 {
		p = append(p, e.Priority)
	}
	if e.TTL > 0 {
		p = message.AppendShortStr(p, strconv.FormatInt(e.TTL, 10))
	}
	p = message.AppendShortStr(p, e.ID)

	out := make([]byte, 0, message.EnvelopeSize(0, len(e.Queue), len(p), len(e.Body)))
	out = message.AppendEnvelopeHeader(out, "", e.Queue, p)
	first += len(out) - len(p)
	return append(out, e.Body...), first
}

// setFirst writes the first-enqueued time into a message that is not shared yet.
func setFirst(env message.Envelope, place int, first int64) {
	binary.BigEndian.PutUint64(env[place:], uint64(first))
}

// jobTimes reads from a job's headers when it was first enqueued (unix ms) and how long it is to be
// leased (ms); 0 means absent.
func jobTimes(env message.Envelope) (first, lock int64) {
	props := env.Properties()
	headers, _ := message.FindProperty(props, message.HasHeaders)
	if letter, v, ok := message.FindHeader(headers, firstHeader); ok && letter == 'l' {
		first = int64(binary.BigEndian.Uint64(v))
	} else if v, ok := message.FindProperty(props, message.HasTimestamp); ok {
		first = int64(min(binary.BigEndian.Uint64(v), shard.MaxSpan/1000)) * 1000
	}
	if v, ok := message.HeaderLookup(headers, lockHeader); ok {
		lock, _ = message.Int(v)
	}
	return max(first, 0), min(max(lock, 0), shard.MaxSpan)
}

// jobPriority returns the priority of a message, or 0 if env is nil because it could not be read.
func jobPriority(env message.Envelope) uint8 {
	if env == nil {
		return 0
	}
	if v, ok := message.FindProperty(env.Properties(), message.HasPriority); ok && len(v) == 1 {
		return v[0]
	}
	return 0
}

// jobError returns the reason of a job's last retry from its headers, or "" if there is none.
func jobError(env message.Envelope) string {
	headers, _ := message.FindProperty(env.Properties(), message.HasHeaders)
	v, _ := message.HeaderLookup(headers, errorHeader)
	text, _ := v.(string)
	return text
}

// withHeader returns a copy of a message with one header added or replaced.
func withHeader(env message.Envelope, name string, value any) (message.Envelope, error) {
	exchange, key, raw, body := env.Split()
	props, err := message.DecodeProperties(raw)
	if err != nil {
		return nil, err
	}
	props.Headers.Set(name, value)
	props.Flags |= message.HasHeaders
	raw = props.Append(nil)
	out := make([]byte, 0, message.EnvelopeSize(len(exchange), len(key), len(raw), len(body)))
	return append(message.AppendEnvelopeHeader(out, exchange, key, raw), body...), nil
}

// randomID returns a random UUID, which no other job has.
func randomID() []byte {
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:], rand.Uint64())  // #nosec G404 -- a name; no secret
	binary.BigEndian.PutUint64(raw[8:], rand.Uint64()) // #nosec G404 -- a name; no secret
	raw[6], raw[8] = raw[6]&0x0f|0x40, raw[8]&0x3f|0x80
	id := make([]byte, 0, 36)
	for i, group := range [...][]byte{raw[:4], raw[4:6], raw[6:8], raw[8:10], raw[10:]} {
		if i > 0 {
			id = append(id, '-')
		}
		id = hex.AppendEncode(id, group)
	}
	return id
}
