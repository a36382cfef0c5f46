package value

import "fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"

// convertTime casts between dates and times. done is false if the target type is neither.
func convertTime(to *Type, d Datum, set *Settings) (done bool, _ Datum, err error) {
	if !to.isTime() {
		return false, nil, nil
	}
	result, err := castTime(to, d, set)
	return true, result, err
}

func castTime(to *Type, d Datum, set *Settings) (Datum, error) {
	switch v := d.(type) {
	case temporal.Date:
		stamp, err := temporal.TimestampOf(v, 0)
		if err != nil {
			return nil, err
		}
		if to == TimestampTZType {
			return inZone(stamp, set)
		}
		if to == TimestampType {
			return stamp, nil
		}
	case temporal.Timestamp:
		switch to {
		case DateType:
			return v.Date(), nil
		case TimeType:
			return timeOfDay(v), nil
		case TimestampTZType:
			return inZone(v, set)
		}
	case temporal.TimestampTZ:
		return castTime(to, temporal.Timestamp(v.Local(set.Zone)), set)
	case temporal.Time:
		if to == IntervalType {
			return temporal.Interval{Micros: int64(v)}, nil
		}
	case temporal.Interval:
		if to == TimeType {
			micros := v.Micros % temporal.MicrosPerDay
			if micros < 0 {
				micros += temporal.MicrosPerDay
			}
			return temporal.Time(micros), nil
		}
	}
	if to.isOf(d) {
		return d, nil
	}
	return nil, unsupported(to)
}

// isOf reports whether d is a value of the date or time type t.
func (t *Type) isOf(d Datum) bool {
	switch d.(type) {
	case temporal.Timestamp:
		return t == TimestampType
	case temporal.Date:
		return t == DateType
	case temporal.Time:
		return t == TimeType
	case temporal.Interval:
		return t == IntervalType
	}
	return false
}

// inZone returns the instant at which the local time of the session is t.
func inZone(t temporal.Timestamp, set *Settings) (Datum, error) {
	instant := t.In(set.Zone)
	return datum(instant, instant.Check(""))
}

// timeOfDay returns the time of day, or NULL for an infinity.
func timeOfDay(t temporal.Timestamp) Datum {
	if t.IsInfinite() {
		return nil
	}
	_, micros := t.Split()
	return micros
}
