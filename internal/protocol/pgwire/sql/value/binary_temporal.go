package value

import (
	"encoding/binary"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
)

func (t *Type) isTime() bool {
	switch t {
	case DateType, TimeType, TimestampType, TimestampTZType, IntervalType:
		return true
	}
	return false
}

// parseBinaryTime parses a date or time, whose length the caller has checked. The format is the
// internal representation.
func parseBinaryTime(t *Type, b []byte) (Datum, error) {
	if t == DateType {
		d := temporal.Date(binary.BigEndian.Uint32(b))
		return d, d.Check("")
	}
	v := int64(binary.BigEndian.Uint64(b))
	switch t {
	case TimeType:
		return datum(temporal.Time(v), temporal.Time(v).Check())
	case TimestampType:
		return temporal.Timestamp(v), temporal.Timestamp(v).Check("")
	case TimestampTZType:
		return temporal.TimestampTZ(v), temporal.TimestampTZ(v).Check("")
	}
	return temporal.Interval{
		Micros: v, Days: int32(binary.BigEndian.Uint32(b[8:])), Months: int32(binary.BigEndian.Uint32(b[12:])),
	}, nil
}

func appendBinaryTime(dst []byte, t *Type, d Datum) ([]byte, error) {
	switch d := d.(type) {
	case temporal.Date:
		return binary.BigEndian.AppendUint32(dst, uint32(d)), nil
	case temporal.Time:
		return binary.BigEndian.AppendUint64(dst, uint64(d)), nil
	case temporal.Timestamp:
		return binary.BigEndian.AppendUint64(dst, uint64(d)), nil
	case temporal.TimestampTZ:
		return binary.BigEndian.AppendUint64(dst, uint64(d)), nil
	case temporal.Interval:
		dst = binary.BigEndian.AppendUint64(dst, uint64(d.Micros))
		dst = binary.BigEndian.AppendUint32(dst, uint32(d.Days))
		return binary.BigEndian.AppendUint32(dst, uint32(d.Months)), nil
	}
	return dst, unsupported(t)
}
