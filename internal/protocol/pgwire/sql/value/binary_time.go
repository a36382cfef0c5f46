package value

import (
	"encoding/binary"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
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
		d := Date(binary.BigEndian.Uint32(b))
		return d, d.check("")
	}
	v := int64(binary.BigEndian.Uint64(b))
	switch t {
	case TimeType:
		if v < 0 || v > microsPerDay {
			return nil, pgerror.New(pgerror.DatetimeOverflow, "time out of range")
		}
		return Time(v), nil
	case TimestampType:
		return Timestamp(v), Timestamp(v).check("")
	case TimestampTZType:
		return TimestampTZ(v), Timestamp(v).check("")
	}
	return Interval{
		Micros: v, Days: int32(binary.BigEndian.Uint32(b[8:])), Months: int32(binary.BigEndian.Uint32(b[12:])),
	}, nil
}

func appendBinaryTime(dst []byte, t *Type, d Datum) ([]byte, error) {
	switch d := d.(type) {
	case Date:
		return binary.BigEndian.AppendUint32(dst, uint32(d)), nil
	case Time:
		return binary.BigEndian.AppendUint64(dst, uint64(d)), nil
	case Timestamp:
		return binary.BigEndian.AppendUint64(dst, uint64(d)), nil
	case TimestampTZ:
		return binary.BigEndian.AppendUint64(dst, uint64(d)), nil
	case Interval:
		dst = binary.BigEndian.AppendUint64(dst, uint64(d.Micros))
		dst = binary.BigEndian.AppendUint32(dst, uint32(d.Days))
		return binary.BigEndian.AppendUint32(dst, uint32(d.Months)), nil
	}
	return dst, unsupported(t)
}
