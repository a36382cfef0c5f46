package semaphoresql

import (
	"math"
	"strconv"

	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/internal/semaphores"
)

// call is a function call: the session and the arguments.
type call struct {
	*mbus.Session
	env  *expr.Env
	args []value.Datum
	spec []expr.Arg
}

func newCall(env *expr.Env, f *expr.Function, args []value.Datum) *call {
	return &call{Session: env.Session.(*mbus.Session), env: env, args: args, spec: f.Args}
}

// given returns an error if the argument is NULL.
func (c *call) given(i int) error {
	if c.args[i] == nil {
		return c.null(i)
	}
	return nil
}

func (c *call) null(i int) error {
	return pgerror.New(pgerror.NullNotAllowed, "%s must not be NULL", c.spec[i].Name)
}

// key returns the first argument.
func (c *call) key() (string, error) {
	if err := c.given(0); err != nil {
		return "", err
	}
	key := c.args[0].(string)
	return key, c.Failed(semaphores.CheckKey(key))
}

// task returns the second argument, a number or a text.
func (c *call) task() (string, error) {
	if err := c.given(1); err != nil {
		return "", err
	}
	if n, ok := c.args[1].(int64); ok {
		return strconv.FormatInt(n, 10), nil
	}
	task := c.args[1].(string)
	return task, c.Failed(semaphores.CheckTask(task))
}

// priority returns an argument that must be a finite number.
func (c *call) priority(i int) (float64, error) { return priorityOf(c.args[i]) }

func priorityOf(d value.Datum) (float64, error) {
	x, ok := d.(float64)
	switch {
	case !ok:
		return 0, pgerror.New(pgerror.NullNotAllowed, "priority must not be NULL")
	case math.IsNaN(x) || math.IsInf(x, 0):
		return 0, pgerror.New(pgerror.InvalidParameterValue, "priority must be a finite number")
	}
	return x, nil
}

// lease returns an interval argument in milliseconds. NULL is 0.
func (c *call) lease(i int) (int64, error) { return leaseOf(c.args[i]) }

const (
	daysPerMonth = 30
	msPerDay     = 24 * 60 * 60 * 1000
)

// leaseOf converts an interval to milliseconds. NULL is 0, which means no lease.
func leaseOf(d value.Datum) (int64, error) {
	i, ok := d.(temporal.Interval)
	if !ok {
		return 0, nil
	}
	ms := (int64(i.Months)*daysPerMonth+int64(i.Days))*msPerDay + i.Micros/1000
	if ms < 0 {
		return 0, pgerror.New(pgerror.InvalidParameterValue, "lease must not be negative")
	}
	return ms, nil
}

// intervalOf is the inverse of leaseOf.
func intervalOf(ms int64) value.Datum {
	if ms == 0 {
		return nil
	}
	return temporal.Interval{Micros: ms * 1000}
}

// unix2000 is 2000-01-01 00:00 UTC in Unix microseconds, the epoch of temporal.TimestampTZ.
const unix2000 = 946684800 * 1e6

func instant(unixMicro int64) temporal.TimestampTZ { return temporal.TimestampTZ(unixMicro - unix2000) }

// count returns a value for active or try_release, or nil for NULL.
func count(name string, d value.Datum) (*int, error) {
	n, ok := d.(int64)
	if !ok {
		return nil, nil
	}
	if n < 0 {
		return nil, pgerror.New(pgerror.InvalidParameterValue, "%s must not be negative", name)
	}
	i := int(n)
	return &i, nil
}

// settings returns the settings from four values, each of which may be NULL: active, try_release,
// ascending, lease.
func settings(vals []value.Datum) (set semaphores.Settings, err error) {
	if set.Active, err = count("active", vals[0]); err != nil {
		return set, err
	}
	if set.TryRelease, err = count("try_release", vals[1]); err != nil {
		return set, err
	}
	if b, ok := vals[2].(bool); ok {
		set.Ascending = &b
	}
	if vals[3] != nil {
		ms, err := leaseOf(vals[3])
		set.Lease = &ms
		return set, err
	}
	return set, nil
}
