package value

import "math"

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
	case Date:
		stamp, err := TimestampOf(v, 0)
		if err != nil {
			return nil, err
		}
		if to == TimestampTZType {
			return datum(stamp.inZone(set))
		}
		if to == TimestampType {
			return stamp, nil
		}
	case Timestamp:
		switch to {
		case DateType:
			return v.date(), nil
		case TimeType:
			return v.timeOfDay(), nil
		case TimestampTZType:
			return datum(v.inZone(set))
		}
	case TimestampTZ:
		return castTime(to, Timestamp(v.Local(set.Zone)), set)
	case Time:
		if to == IntervalType {
			return Interval{Micros: int64(v)}, nil
		}
	case Interval:
		if to == TimeType {
			micros := v.Micros % microsPerDay
			if micros < 0 {
				micros += microsPerDay
			}
			return Time(micros), nil
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
	case Timestamp:
		return t == TimestampType
	case Date:
		return t == DateType
	case Time:
		return t == TimeType
	case Interval:
		return t == IntervalType
	}
	return false
}

func (t Timestamp) inZone(set *Settings) (TimestampTZ, error) {
	instant := t.In(set.Zone)
	return instant, Timestamp(instant).check("")
}

func (t Timestamp) date() Date {
	switch t {
	case TimestampInfinity:
		return DateInfinity
	case TimestampNegInfinity:
		return DateNegInfinity
	}
	day, _ := t.Split()
	return day
}

// timeOfDay returns the time of day, or NULL for an infinity.
func (t Timestamp) timeOfDay() Datum {
	if t.IsInfinite() {
		return nil
	}
	_, micros := t.Split()
	return micros
}

// AddMonths adds months to a date. A day that the month does not have becomes its last day.
func (d Date) AddMonths(months int) (Date, error) {
	if d.IsInfinite() || months == 0 {
		return d, nil
	}
	year, month, day := d.Civil()
	total := int64(year)*12 + int64(month-1) + int64(months)
	y, m := total/12, total%12
	if m < 0 {
		y, m = y-1, m+12
	}
	if y > math.MaxInt32/400 || y < -4800 {
		return 0, Timestamp(0).outOfRange()
	}
	return DateOf(int(y), int(m)+1, min(day, daysIn(int(y), int(m)+1))), nil
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// Add returns t + i. It adds the months, then the days, then the time.
func (t Timestamp) Add(i Interval) (Timestamp, error) {
	if t.IsInfinite() {
		return t, nil
	}
	day, micros := t.Split()
	day, err := day.AddMonths(int(i.Months))
	if err != nil {
		return 0, err
	}
	days := int64(day) + int64(i.Days)
	if days < int64(minDate) || days > int64(endDate) {
		return 0, t.outOfRange()
	}
	sum, err := TimestampOf(Date(days), micros)
	if err != nil {
		return 0, t.outOfRange()
	}
	result := sum + Timestamp(i.Micros)
	if (i.Micros > 0) != (result > sum) && i.Micros != 0 {
		return 0, t.outOfRange()
	}
	if result.IsInfinite() {
		return 0, t.outOfRange()
	}
	return result, result.check("")
}

// Add returns t + i. It adds months and days in local time of zone, then the time as elapsed time.
func (t TimestampTZ) Add(i Interval, zone *Settings) (TimestampTZ, error) {
	if t.IsInfinite() {
		return t, nil
	}
	if i.Months != 0 || i.Days != 0 {
		local, err := t.Local(zone.Zone).Add(Interval{Months: i.Months, Days: i.Days})
		if err != nil {
			return 0, err
		}
		t = local.In(zone.Zone)
	}
	sum, err := Timestamp(t).Add(Interval{Micros: i.Micros})
	return TimestampTZ(sum), err
}
