package amqpwire

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/core/message"
)

// ContentHeaderSize is the number of bytes in front of the property list: class, weight and body
// size.
const ContentHeaderSize = 2 + 2 + 8

// ParseContentHeader parses the payload of a header frame (section 4.2.6.1). props aliases it and
// is not validated: see message.PeekProperties. The error wraps ErrMalformedHeader, or is
// ErrWeight.
func ParseContentHeader(payload []byte) (class uint16, bodySize uint64, props []byte, err error) {
	if len(payload) < ContentHeaderSize+2 {
		return 0, 0, nil, fmt.Errorf("%w: %d bytes", ErrMalformedHeader, len(payload))
	}
	if binary.BigEndian.Uint16(payload[2:]) != 0 {
		return 0, 0, nil, ErrWeight
	}
	return binary.BigEndian.Uint16(payload), binary.BigEndian.Uint64(payload[4:]), payload[ContentHeaderSize:], nil
}

// contentSize returns the number of bytes that AppendContent appends.
func contentSize(props, body int, frameMax uint32) int {
	size := FrameOverhead + ContentHeaderSize + props + body
	switch perFrame := bodyPerFrame(frameMax); {
	case body == 0:
		return size
	case body <= perFrame: // the usual case needs no division
		return size + FrameOverhead
	default:
		return size + (body+perFrame-1)/perFrame*FrameOverhead
	}
}

// bodyPerFrame returns how many bytes of a body fit one frame. It is at least one, so that
// splitting always ends.
func bodyPerFrame(frameMax uint32) int { return max(1, maxPayload(frameMax)) }

// AppendContent appends the header frame and the body frames of a message, the body split at
// frameMax (bytes per frame with framing, 0 for no limit). An empty body has no body frame. The
// protocol does not allow the header frame to be split.
func AppendContent(dst []byte, channel uint16, props, body []byte, frameMax uint32) []byte {
	dst = slices.Grow(dst, contentSize(len(props), len(body), frameMax))
	dst = appendFrameHeader(dst, FrameHeader, channel, ContentHeaderSize+len(props))
	dst = append(dst, 0, byte(ClassBasic), 0, 0)
	dst = binary.BigEndian.AppendUint64(dst, uint64(len(body)))
	dst = append(dst, props...)
	dst = append(dst, FrameEnd)
	for perFrame := bodyPerFrame(frameMax); len(body) > 0; {
		n := min(perFrame, len(body))
		dst = appendFrameHeader(dst, FrameBody, channel, n)
		dst = append(dst, body[:n]...)
		dst = append(dst, FrameEnd)
		body = body[n:]
	}
	return dst
}

// AppendDeliver appends a whole basic.deliver of env: method, header and body frames. It grows dst
// once for all of them, and copies exchange and key at once, because an envelope begins with the
// same bytes that end the arguments of basic.deliver.
func AppendDeliver(
	dst []byte, channel uint16, consumerTag string, tag uint64, redelivered bool, env message.Envelope, frameMax uint32,
) []byte {
	return AppendDeliverWith(dst, channel, consumerTag, tag, redelivered, env, nil, frameMax)
}

// AppendDeliverWith is AppendDeliver with props instead of the properties of env, unless props is
// nil.
func AppendDeliverWith(
	dst []byte, channel uint16, consumerTag string, tag uint64, redelivered bool, env message.Envelope, props []byte, frameMax uint32,
) []byte {
	exchange, key, own, body := env.Split()
	if props == nil {
		props = own
	}
	names := env[:1+len(exchange)+1+len(key)]
	args := 4 + 1 + len(consumerTag) + 8 + 1 + len(names)
	dst = slices.Grow(dst, FrameOverhead+args+contentSize(len(props), len(body), frameMax))
	dst = appendFrameHeader(dst, FrameMethod, channel, args)
	dst = appendID(dst, IDBasicDeliver)
	dst = message.AppendShortStr(dst, consumerTag)
	dst = binary.BigEndian.AppendUint64(dst, tag)
	dst = append(dst, bit(redelivered))
	dst = append(dst, names...)
	dst = append(dst, FrameEnd)
	return AppendContent(dst, channel, props, body, frameMax)
}

// AppendGetOk appends a whole basic.get-ok of env; messageCount is the number of ready messages
// left.
func AppendGetOk(
	dst []byte, channel uint16, tag uint64, redelivered bool, messageCount uint32, env message.Envelope, frameMax uint32,
) []byte {
	exchange, key, props, body := env.Split()
	start := len(dst)
	dst = appendFrameHeader(dst, FrameMethod, channel, 0)
	dst = appendID(dst, IDBasicGetOk)
	dst = binary.BigEndian.AppendUint64(dst, tag)
	dst = append(dst, bit(redelivered))
	dst = message.AppendShortStr(dst, exchange)
	dst = message.AppendShortStr(dst, key)
	dst = binary.BigEndian.AppendUint32(dst, messageCount)
	return AppendContent(endMethodFrame(dst, start), channel, props, body, frameMax)
}

// AppendReturn appends a whole basic.return of env.
func AppendReturn(dst []byte, channel uint16, code uint16, text string, env message.Envelope, frameMax uint32) []byte {
	exchange, key, props, body := env.Split()
	start := len(dst)
	dst = appendFrameHeader(dst, FrameMethod, channel, 0)
	dst = appendID(dst, IDBasicReturn)
	dst = binary.BigEndian.AppendUint16(dst, code)
	dst = message.AppendShortStr(dst, cut(text))
	dst = message.AppendShortStr(dst, exchange)
	dst = message.AppendShortStr(dst, key)
	return AppendContent(endMethodFrame(dst, start), channel, props, body, frameMax)
}

// AppendPublish appends a whole basic.publish, as a client sends it.
func AppendPublish(
	dst []byte, channel uint16, exchange, key string, mandatory bool, props, body []byte, frameMax uint32,
) []byte {
	start := len(dst)
	dst = appendFrameHeader(dst, FrameMethod, channel, 0)
	dst = appendID(dst, IDBasicPublish)
	dst = append(dst, 0, 0) // reserved
	dst = message.AppendShortStr(dst, exchange)
	dst = message.AppendShortStr(dst, key)
	dst = append(dst, bit(mandatory))
	return AppendContent(endMethodFrame(dst, start), channel, props, body, frameMax)
}

// AppendAck appends a basic.ack frame.
func AppendAck(dst []byte, channel uint16, tag uint64, multiple bool) []byte {
	return appendSettle(dst, channel, IDBasicAck, tag, bit(multiple))
}

// AppendNack appends a basic.nack frame.
func AppendNack(dst []byte, channel uint16, tag uint64, multiple, requeue bool) []byte {
	return appendSettle(dst, channel, IDBasicNack, tag, bit(multiple)|bit(requeue)<<1)
}

func appendSettle(dst []byte, channel uint16, id MethodID, tag uint64, flags byte) []byte {
	dst = appendFrameHeader(dst, FrameMethod, channel, 4+8+1)
	dst = appendID(dst, id)
	dst = binary.BigEndian.AppendUint64(dst, tag)
	return append(dst, flags, FrameEnd)
}

// cut shortens a text for people to the size of a short string. It cuts at a character boundary and
// marks the cut.
func cut(text string) string {
	if len(text) <= message.MaxShortStr {
		return text
	}
	const more = "..."
	end := message.MaxShortStr - len(more)
	for least := end - utf8.UTFMax; end > least && !utf8.RuneStart(text[end]); {
		end--
	}
	return text[:end] + more
}
