package session

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// sleep implements pg_sleep. It ends with the statement.
func sleep(env *expr.Env, micros int64) (value.Datum, error) {
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

// newUUID implements gen_random_uuid.
func newUUID(*expr.Env, []value.Datum) (value.Datum, error) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0F|0x40, b[8]&0x3F|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

func null(*expr.Env, []value.Datum) (value.Datum, error) { return nil, nil }

func typeOf(args []*value.Type, _ *value.Type) (expr.Bound, error) {
	oid := int64(args[0].OID)
	return expr.Bound{Call: func(*expr.Env, []value.Datum) (value.Datum, error) { return oid, nil }}, nil
}

func schemas(env *expr.Env, a []value.Datum) (value.Datum, error) {
	var names []value.Datum
	path := env.NamedPath()
	if a[0].(bool) {
		path = env.Path
	}
	for _, schema := range path {
		names = append(names, schema)
	}
	return value.NewArray(value.Name, names), nil
}

// timeOfDay implements timeofday(), which has a fixed format.
func timeOfDay(env *expr.Env, _ []value.Datum) (value.Datum, error) {
	return env.Clock().Time().In(env.Settings.Zone).Format("Mon Jan 02 15:04:05.000000 2006 MST"), nil
}

func addSessions(to expr.Table) {
	now := func(env *expr.Env, _ []value.Datum) (value.Datum, error) { return env.Now, nil }
	user := func(env *expr.Env, _ []value.Datum) (value.Datum, error) { return env.User, nil }
	to.Calls(map[string]expr.CallFunc{
		"now": now, "current_user": user, "session_user": user,
		"statement_timestamp": func(env *expr.Env, _ []value.Datum) (value.Datum, error) { return env.Stmt, nil },
		"clock_timestamp":     func(env *expr.Env, _ []value.Datum) (value.Datum, error) { return env.Clock(), nil },
		"timeofday":           timeOfDay,
		"current_database":    func(env *expr.Env, _ []value.Datum) (value.Datum, error) { return env.Database, nil },
		"current_schema":      func(env *expr.Env, _ []value.Datum) (value.Datum, error) { return env.CurrentSchema(), nil },
		"current_schemas":     schemas,
		"drandom":             func(*expr.Env, []value.Datum) (value.Datum, error) { return mathrand.Float64(), nil }, // #nosec G404 -- random() of SQL; no secret
		"gen_random_uuid":     newUUID,
		"inet_client_addr":    null, "inet_client_port": null, "inet_server_addr": null, "inet_server_port": null,
		"pg_sleep": func(env *expr.Env, a []value.Datum) (value.Datum, error) {
			return sleep(env, int64(min(max(a[0].(float64), 0), 1e9)*1e6))
		},
		"pg_sleep_for": func(env *expr.Env, a []value.Datum) (value.Datum, error) {
			end, err := env.Clock().Add(a[0].(temporal.Interval), env.Settings.Zone)
			if err != nil {
				return nil, err
			}
			return sleep(env, int64(end-env.Clock()))
		},
		"pg_sleep_until": func(env *expr.Env, a []value.Datum) (value.Datum, error) {
			return sleep(env, int64(a[0].(temporal.TimestampTZ)-env.Clock()))
		},
		"getdatabaseencoding": func(*expr.Env, []value.Datum) (value.Datum, error) { return "UTF8", nil },
	})
	to.Binds(map[string]expr.BindFunc{"pg_typeof": typeOf})
}
