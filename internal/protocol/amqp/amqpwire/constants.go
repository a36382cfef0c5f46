package amqpwire

import "math"

// ProtocolHeader is what a client of AMQP 0-9-1 sends first, and what a server answers to any other
// header (section 4.2.2).
const ProtocolHeader = "AMQP\x00\x00\x09\x01"

// Frame types (section 4.2.3). They are on the wire.
const (
	FrameMethod    uint8 = 1
	FrameHeader    uint8 = 2
	FrameBody      uint8 = 3
	FrameHeartbeat uint8 = 8
)

const (
	// FrameEnd is the octet that closes every frame.
	FrameEnd uint8 = 206
	// FrameOverhead is the number of bytes of a frame besides its payload: type, channel, size and
	// end octet.
	FrameOverhead = frameHeaderSize + 1
	// MinFrameMax is the smallest frame_max that a peer may ask for (constant frame-min-size).
	MinFrameMax = 4096

	frameHeaderSize = 7
)

// Class ids, as content headers and close methods use them.
const (
	ClassConnection uint16 = 10
	ClassChannel    uint16 = 20
	ClassAccess     uint16 = 30
	ClassExchange   uint16 = 40
	ClassQueue      uint16 = 50
	ClassBasic      uint16 = 60
	ClassConfirm    uint16 = 85
	ClassTx         uint16 = 90
)

// maxPayload returns the largest payload that fits a frame of frameMax bytes. 0 means no limit
// except that of the size field.
func maxPayload(frameMax uint32) int {
	if frameMax == 0 {
		return math.MaxUint32
	}
	return int(frameMax) - FrameOverhead
}
