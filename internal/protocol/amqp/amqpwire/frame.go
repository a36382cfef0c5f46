package amqpwire

import "encoding/binary"

// Frame is one frame without its framing. Payload aliases the buffer that it was parsed from.
type Frame struct {
	Type    uint8
	Channel uint16
	Payload []byte
}

// ParseFrame parses the frame at the start of buf and returns it with the number of bytes that it
// takes. If buf does not hold a whole frame yet, n is 0 and err nil. An error is a *FrameError;
// Size and type are checked as soon as the seven bytes of the frame header are there, so ParseFrame
// never waits for the rest of a frame that it refuses.
//
// maxFrame is the negotiated frame_max in bytes, 0 for no limit. Like RabbitMQ, ParseFrame lets a
// payload use the eight bytes of framing too, because some clients count this way.
func ParseFrame(buf []byte, maxFrame uint32) (f Frame, n int, err error) {
	if len(buf) < frameHeaderSize {
		return Frame{}, 0, nil
	}
	f.Type = buf[0]
	f.Channel = binary.BigEndian.Uint16(buf[1:])
	size := binary.BigEndian.Uint32(buf[3:])
	switch f.Type {
	case FrameMethod, FrameHeader, FrameBody, FrameHeartbeat:
	default:
		return Frame{}, 0, &FrameError{Kind: ErrFrameType, Type: f.Type, Channel: f.Channel, Size: size}
	}
	if maxFrame != 0 && size > maxFrame {
		return Frame{}, 0, &FrameError{
			Kind: ErrFrameTooLarge, Type: f.Type, Channel: f.Channel, Size: size, Limit: uint32(max(0, maxPayload(maxFrame))),
		}
	}
	if uint64(len(buf)) < uint64(size)+FrameOverhead {
		return Frame{}, 0, nil
	}
	end := frameHeaderSize + int(size)
	if buf[end] != FrameEnd {
		return Frame{}, 0, &FrameError{Kind: ErrFrameEnd, Type: f.Type, Channel: f.Channel, Size: size, End: buf[end]}
	}
	f.Payload = buf[frameHeaderSize:end:end]
	return f, end + 1, nil
}

// appendFrameHeader appends type, channel and payload size.
func appendFrameHeader(dst []byte, frameType uint8, channel uint16, size int) []byte {
	return append(dst, frameType, byte(channel>>8), byte(channel), byte(size>>24), byte(size>>16), byte(size>>8), byte(size))
}

// AppendMethodFrame appends m as a whole frame. Method frames cannot be split, so the caller must
// refuse a method that exceeds the negotiated frame_max.
func AppendMethodFrame(dst []byte, channel uint16, m Method) []byte {
	start := len(dst)
	dst = appendFrameHeader(dst, FrameMethod, channel, 0)
	return endMethodFrame(appendMethod(dst, m), start)
}

// appendMethod appends ids and arguments, which is the payload of a method frame.
func appendMethod(dst []byte, m Method) []byte {
	a := pool.Get().(*arguments)
	defer a.release()
	a.appends, a.dst = true, appendID(dst, m.ID())
	m.arguments(a)
	return a.dst
}

// endMethodFrame writes the size of the frame that begins at start, and closes it.
func endMethodFrame(dst []byte, start int) []byte {
	binary.BigEndian.PutUint32(dst[start+3:], uint32(len(dst)-start-frameHeaderSize))
	return append(dst, FrameEnd)
}

// AppendHeartbeat appends a heartbeat frame.
func AppendHeartbeat(dst []byte) []byte {
	return append(dst, FrameHeartbeat, 0, 0, 0, 0, 0, 0, FrameEnd)
}
