package temporal

import "math"

// Units of time.
const (
	MicrosPerSecond int64 = 1_000_000
	MicrosPerMinute       = 60 * MicrosPerSecond
	MicrosPerHour         = 60 * MicrosPerMinute
	MicrosPerDay          = 24 * MicrosPerHour

	DaysPerMonth = 30 // where months count as days

	// MaxPrecision is the number of digits of a second's fraction.
	MaxPrecision = 6
)

// roundMicros rounds to a number of fractional digits, half away from zero.
func roundMicros(micros int64, digits int32) int64 {
	if digits >= MaxPrecision {
		return micros
	}
	unit := int64(math.Pow10(int(MaxPrecision - digits)))
	if micros >= 0 {
		return (micros + unit/2) / unit * unit
	}
	return -((-micros + unit/2) / unit * unit)
}
