package expr

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"fiveways/internal/protocol/pgwire/pgerror"
	"fiveways/internal/protocol/pgwire/sql/value"
)

// zoneNamed finds a time zone by its name, its abbreviation or its offset.
func zoneNamed(name string) (*time.Location, error) {
	if zone, ok := movingAbbreviations[lower(name)]; ok {
		name = zone
	}
	if seconds, ok := value.LookupAbbreviation(lower(name)); ok {
		return time.FixedZone(name, seconds), nil
	}
	if zone := value.LookupZone(name); zone != nil {
		return zone, nil
	}
	return nil, pgerror.New(pgerror.InvalidParameterValue, "time zone \"%s\" not recognized", name)
}

// zoneAt is zoneNamed for one time: an abbreviation that has moved means what it meant then, or what it mostly means.
func zoneAt(name string, t value.Datum) (*time.Location, error) {
	moving, ok := movingAbbreviations[lower(name)]
	if !ok {
		return zoneNamed(name)
	}
	zone := value.LookupZone(moving)
	if zone == nil {
		return zoneNamed(name)
	}
	at, isInstant := t.(instant)
	if !isInstant {
		at = t.(stamp).In(zone)
	}
	abbreviation, _ := at.Time().In(zone).Zone()
	if seconds, fixed := value.LookupAbbreviation(lower(name)); fixed && lower(abbreviation) != lower(name) {
		return time.FixedZone(name, seconds), nil
	}
	return zone, nil
}

// intervalZone is a zone given by how far it is east of UTC.
func intervalZone(i interval, set *value.Settings) (*time.Location, error) {
	if i.Months != 0 || i.Days != 0 {
		return nil, pgerror.New(pgerror.InvalidParameterValue, "interval time zone \"%s\" must not include months or days",
			value.String(value.IntervalType, i, set))
	}
	return time.FixedZone("", int(i.Micros/microsPerSecond)), nil
}

// inZone is AT TIME ZONE.
func inZone(env *Env, zone, t value.Datum) (value.Datum, error) {
	switch t := t.(type) { // an infinite time is not looked at with a zone, so a wrong one is not seen
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

// sleep is pg_sleep: it ends with the statement.
func sleep(env *Env, micros int64) (value.Datum, error) {
	if micros <= 0 {
		return "", nil
	}
	timer := time.NewTimer(time.Duration(micros) * time.Microsecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return "", nil
	case <-env.Ctx.Done():
		return nil, env.Ctx.Err()
	}
}

// newUUID is gen_random_uuid.
func newUUID(*Env, []value.Datum) (value.Datum, error) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0F|0x40, b[8]&0x3F|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

func null(*Env, []value.Datum) (value.Datum, error) { return nil, nil }

func typeOf(args []*value.Type, _ *value.Type) (Bound, error) {
	oid := int64(args[0].OID)
	return Bound{Call: func(*Env, []value.Datum) (value.Datum, error) { return oid, nil }}, nil
}

func schemas(env *Env, a []value.Datum) (value.Datum, error) {
	var names []value.Datum
	path := namedPath(env)
	if a[0].(bool) {
		path = env.Path
	}
	for _, schema := range path {
		names = append(names, schema)
	}
	return newArray(value.Name, names), nil
}

// timeOfDay is timeofday(), the clock in the form that it always had.
func timeOfDay(env *Env, _ []value.Datum) (value.Datum, error) {
	return env.Clock().Time().In(env.Settings.Zone).Format("Mon Jan 02 15:04:05.000000 2006 MST"), nil
}

func init() {
	now := func(env *Env, _ []value.Datum) (value.Datum, error) { return env.Now, nil }
	user := func(env *Env, _ []value.Datum) (value.Datum, error) { return env.User, nil }
	zone := func(env *Env, a []value.Datum) (value.Datum, error) { return inZone(env, a[0], a[1]) }
	calls(map[string]callFunc{
		"now": now, "current_user": user, "session_user": user,
		"statement_timestamp": func(env *Env, _ []value.Datum) (value.Datum, error) { return env.Stmt, nil },
		"clock_timestamp":     func(env *Env, _ []value.Datum) (value.Datum, error) { return env.Clock(), nil },
		"timeofday":           timeOfDay,
		"timestamptz_zone":    zone, "timestamptz_izone": zone, "timestamp_zone": zone, "timestamp_izone": zone,
		"current_database": func(env *Env, _ []value.Datum) (value.Datum, error) { return env.Database, nil },
		"current_schema":   func(env *Env, _ []value.Datum) (value.Datum, error) { return currentSchema(env), nil },
		"current_schemas":  schemas,
		"drandom":          func(*Env, []value.Datum) (value.Datum, error) { return mathrand.Float64(), nil }, // #nosec G404 -- random() of SQL; no secret
		"gen_random_uuid":  newUUID,
		"inet_client_addr": null, "inet_client_port": null, "inet_server_addr": null, "inet_server_port": null,
		"pg_sleep": func(env *Env, a []value.Datum) (value.Datum, error) {
			return sleep(env, int64(min(max(a[0].(float64), 0), 1e9)*1e6))
		},
		"pg_sleep_for": func(env *Env, a []value.Datum) (value.Datum, error) {
			end, err := env.Clock().Add(a[0].(interval), &env.Settings)
			if err != nil {
				return nil, err
			}
			return sleep(env, int64(end-env.Clock()))
		},
		"pg_sleep_until": func(env *Env, a []value.Datum) (value.Datum, error) {
			return sleep(env, int64(a[0].(instant)-env.Clock()))
		},
		"getdatabaseencoding": func(*Env, []value.Datum) (value.Datum, error) { return "UTF8", nil },
	})
	binds(map[string]bindFunc{"pg_typeof": typeOf})
}
