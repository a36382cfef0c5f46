package temporal

import "fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"

// Time is the number of microseconds since midnight. It can be 24:00.
type Time int64

// Check returns an error if t is out of range.
func (t Time) Check() error {
	if t < 0 || t > Time(MicrosPerDay) {
		return pgerror.New(pgerror.DatetimeOverflow, "time out of range")
	}
	return nil
}

// Round rounds t to a number of fractional digits of the second.
func (t Time) Round(digits int32) Time {
	return min(Time(roundMicros(int64(t), digits)), Time(MicrosPerDay))
}
