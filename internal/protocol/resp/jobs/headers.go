package jobs

import (
	"encoding/binary"
	"math"
	"strconv"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// ownHeader reports whether the engine uses this header for its own data about a job. Clients set
// such data with options instead.
func ownHeader(name []byte) bool {
	switch string(name) {
	case "x-first-enqueued", "x-lock-ms":
		return true
	}
	return false
}

// writeHeaders writes encoded headers of a message as a map. It omits tables, arrays and void
// values.
func writeHeaders(w *respwire.Writer, raw []byte) {
	n := 0
	eachHeader(raw, func([]byte, byte, []byte) { n++ })
	w.Map(n)
	eachHeader(raw, func(name []byte, letter byte, value []byte) {
		w.Bulk(name)
		writeHeader(w, letter, value)
	})
}

// eachHeader calls show for each header that writeHeaders includes.
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

// writeHeader writes a value: strings and bytes as they are, integers as numbers, anything else as
// text. The letters are those of message.Table.
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
