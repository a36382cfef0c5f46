package jobs

import (
	"encoding/binary"
	"math"
	"strconv"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// ownHeader reports whether a header is one in which the engine keeps what it knows of a job:
// clients have other words for it.
func ownHeader(name []byte) bool {
	switch string(name) {
	case "x-first-enqueued", "x-lock-ms":
		return true
	}
	return false
}

// writeHeaders writes the headers of a message, as they are on the wire, as a map. Tables, arrays
// and values that are nothing are left out.
func writeHeaders(w *respwire.Writer, raw []byte) {
	n := 0
	eachHeader(raw, func([]byte, byte, []byte) { n++ })
	w.Map(n)
	eachHeader(raw, func(name []byte, letter byte, value []byte) {
		w.Bulk(name)
		writeHeader(w, letter, value)
	})
}

// eachHeader shows the headers that are written.
func eachHeader(raw []byte, show func(name []byte, letter byte, value []byte)) {
	for {
		name, letter, value, rest, ok := message.NextField(raw)
		if !ok {
			return
		}
		if letter != 'F' && letter != 'A' && letter != 'V' && !ownHeader(name) {
			show(name, letter, value)
		}
		raw = rest
	}
}

// writeHeader writes a value: text and bytes as they are, numbers without a fraction as numbers,
// all else as text. The letters are those of message.Table.
func writeHeader(w *respwire.Writer, letter byte, value []byte) {
	switch letter {
	case 'S', 'x':
		w.Bulk(value)
	case 'b':
		w.Int(int64(int8(value[0])))
	case 'B':
		w.Int(int64(value[0]))
	case 's':
		w.Int(int64(int16(binary.BigEndian.Uint16(value))))
	case 'u':
		w.Int(int64(binary.BigEndian.Uint16(value)))
	case 'I':
		w.Int(int64(int32(binary.BigEndian.Uint32(value))))
	case 'i':
		w.Int(int64(binary.BigEndian.Uint32(value)))
	case 'l', 'L', 'T':
		w.Int(int64(binary.BigEndian.Uint64(value)))
	case 't':
		w.BulkString(strconv.FormatBool(value[0] != 0))
	case 'f':
		w.BulkString(strconv.FormatFloat(float64(math.Float32frombits(binary.BigEndian.Uint32(value))), 'g', -1, 32))
	case 'd':
		w.BulkString(strconv.FormatFloat(math.Float64frombits(binary.BigEndian.Uint64(value)), 'g', -1, 64))
	case 'D':
		w.BulkString(message.Decimal{Scale: value[0], Value: binary.BigEndian.Uint32(value[1:])}.Text())
	}
}
