package semaphoresql

import (
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/internal/semaphores"
)

// function returns a function with a single result.
func function(f expr.Function, run func(c *call) (value.Datum, error)) *expr.Function {
	f.Volatility = expr.Volatile
	f.Call = func(env *expr.Env, args []value.Datum) (value.Datum, error) { return run(newCall(env, &f, args)) }
	return &f
}

func arg(name string, t *value.Type) expr.Arg { return expr.Arg{Name: name, Type: t} }

// optional returns an argument that defaults to NULL.
func optional(name string, t *value.Type) expr.Arg {
	return expr.Arg{Name: name, Type: t, HasDefault: true, DefaultSQL: "NULL::" + t.String()}
}

func semaphoreFunctions() []*expr.Function {
	described := []expr.Arg{
		arg("key", value.Text), optional("active", value.Int4), optional("try_release", value.Int4), optional("ascending", value.Bool),
		optional("lease", value.IntervalType),
	}
	return []*expr.Function{
		function(expr.Function{
			Name: "get_or_create", Args: described, Returns: value.Semaphore,
			Comment: "create a semaphore, or get it; an existing one is not changed",
		}, getOrCreate),
		function(expr.Function{
			Name: "update", Args: described, Returns: value.Void, Comment: "change what is given of a semaphore",
		}, update),
		function(expr.Function{
			Name: "drop", Args: []expr.Arg{arg("key", value.Text)}, Returns: value.Bool,
			Comment: "delete a semaphore with its tasks; false: there is none",
		}, drop),
	}
}

// described returns the common arguments of functions that change a semaphore: its key and the
// settings.
func (c *call) described(function string) (key string, set semaphores.Settings, err error) {
	if key, err = c.key(); err != nil {
		return key, set, err
	}
	if set, err = settings(c.args[1:]); err != nil {
		return key, set, err
	}
	return key, set, c.MayChange(function)
}

func getOrCreate(c *call) (value.Datum, error) {
	key, set, err := c.described("get_or_create")
	if err != nil {
		return nil, err
	}
	info, _, err := create(c.Session, key, set)
	if err != nil {
		return nil, err
	}
	return value.Record(semaphoreRow(info)), nil
}

func update(c *call) (value.Datum, error) {
	key, set, err := c.described("update")
	if err != nil {
		return nil, err
	}
	if err := may(c.Session, toConfigure, key); err != nil {
		return nil, err
	}
	if err := exists(c.Session, key); err != nil {
		return nil, err
	}
	c.Change(&semaphores.Update{Of: semaphores.Of{Key: key}, Settings: set})
	return "", nil
}

func drop(c *call) (value.Datum, error) {
	key, err := c.key()
	if err != nil {
		return nil, err
	}
	if err := c.MayChange("drop"); err != nil {
		return nil, err
	}
	if err := may(c.Session, toConfigure, key); err != nil {
		return nil, err
	}
	there := exists(c.Session, key) == nil
	if there {
		c.Change(&semaphores.Delete{Of: semaphores.Of{Key: key}})
	}
	return there, nil
}
