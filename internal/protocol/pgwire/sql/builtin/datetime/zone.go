package datetime

import (
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/timezone"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// zoneNamed returns a time zone by name, abbreviation or offset.
func zoneNamed(name string) (*time.Location, error) {
	if zone, ok := movingAbbreviations[pgtext.LowerASCII(name)]; ok {
		name = zone
	}
	if seconds, ok := timezone.Abbreviation(pgtext.LowerASCII(name)); ok {
		return time.FixedZone(name, seconds), nil
	}
	if zone := timezone.Lookup(name); zone != nil {
		return zone, nil
	}
	return nil, pgerror.New(pgerror.InvalidParameterValue, "time zone \"%s\" not recognized", name)
}

// zoneAt is zoneNamed at a given time. An abbreviation whose offset has changed stands for its
// zone, unless the zone did not use it at that time and the abbreviation has a usual offset.
func zoneAt(name string, t value.Datum) (*time.Location, error) {
	moving, ok := movingAbbreviations[pgtext.LowerASCII(name)]
	if !ok {
		return zoneNamed(name)
	}
	zone := timezone.Lookup(moving)
	if zone == nil {
		return zoneNamed(name)
	}
	at, isInstant := t.(instant)
	if !isInstant {
		at = t.(stamp).In(zone)
	}
	abbreviation, _ := at.Time().In(zone).Zone()
	if seconds, fixed := timezone.Abbreviation(pgtext.LowerASCII(name)); fixed && pgtext.LowerASCII(abbreviation) != pgtext.LowerASCII(name) {
		return time.FixedZone(name, seconds), nil
	}
	return zone, nil
}

// intervalZone returns the zone at an offset east of UTC.
func intervalZone(i interval, set *value.Settings) (*time.Location, error) {
	if i.Months != 0 || i.Days != 0 {
		return nil, pgerror.New(pgerror.InvalidParameterValue, "interval time zone \"%s\" must not include months or days",
			value.String(value.IntervalType, i, set))
	}
	return time.FixedZone("", int(i.Micros/temporal.MicrosPerSecond)), nil
}

// inZone implements AT TIME ZONE.
func inZone(env *expr.Env, zone, t value.Datum) (value.Datum, error) {
	switch t := t.(type) { // infinite times return first, without an error for an invalid zone
	case instant:
		if t.IsInfinite() {
			return stamp(t), nil
		}
	case stamp:
		if t.IsInfinite() {
			return instant(t), nil
		}
	}
	var where *time.Location
	var err error
	if name, ok := zone.(string); ok {
		where, err = zoneAt(name, t)
	} else {
		where, err = intervalZone(zone.(interval), &env.Settings)
	}
	if err != nil {
		return nil, err
	}
	if t, ok := t.(instant); ok {
		return t.Local(where), nil
	}
	return t.(stamp).In(where), nil
}

func addZones(to expr.Table) {
	zone := func(env *expr.Env, a []value.Datum) (value.Datum, error) { return inZone(env, a[0], a[1]) }
	to.Calls(map[string]expr.CallFunc{"timestamptz_zone": zone, "timestamptz_izone": zone, "timestamp_zone": zone, "timestamp_izone": zone})
}
