package document

import (
	"slices"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// verb is what happens at the end of a path.
type verb int

const (
	replace verb = iota // a value that is there
	set                 // or add it
	before              // insert before an element, or add a member
	after
	remove
)

// pathChange is a change of the value at a path in a jsonb, as in PostgreSQL's setPath.
type pathChange struct {
	path []value.Datum
	verb verb
	to   *value.JSONNode
}

// apply changes n, which is the value at the first level elements of the path.
func (c *pathChange) apply(n *value.JSONNode, level int) error {
	word, isText := c.path[level].(string)
	switch {
	case !isText:
		return pgerror.New(pgerror.NullNotAllowed, "path element at position %d is null", level+1)
	case n.Kind == 'o':
		return c.inObject(n, level, word)
	case n.Kind == 'a':
		return c.inArray(n, level, word)
	}
	return nil
}

func (c *pathChange) inObject(n *value.JSONNode, level int, key string) error {
	i, last := memberAt(n, key), level == len(c.path)-1
	switch {
	case i >= 0 && !last:
		return c.apply(n.Members[i].Value, level+1)
	case i >= 0 && (c.verb == before || c.verb == after):
		return pgerror.New(pgerror.InvalidParameterValue, "cannot replace existing key").
			WithHint("Try using the function jsonb_set to replace key value.")
	case i >= 0 && c.verb == remove:
		n.Members = slices.Delete(n.Members, i, i+1)
	case i >= 0:
		n.Members[i].Value = c.to
	case last && c.adds():
		*n = *value.JSONObject(append(n.Members, value.JSONMember{Key: key, Value: c.to}))
	}
	return nil
}

// adds reports whether a value that is missing is added.
func (c *pathChange) adds() bool { return c.verb != replace && c.verb != remove }

func (c *pathChange) inArray(n *value.JSONNode, level int, word string) error {
	i, err := strconv.ParseInt(strings.TrimLeft(word, " \t\n\v\f\r"), 10, 32)
	if err != nil {
		return pgerror.New(pgerror.InvalidText, `path element at position %d is not an integer: "%s"`, level+1, word)
	}
	size := int64(len(n.Elems))
	if i < 0 {
		i += size
	}
	last := level == len(c.path)-1
	if i < 0 || i >= size {
		if last && c.adds() {
			n.Elems = slices.Insert(n.Elems, int(min(max(i, 0), size)), c.to)
		}
		return nil
	}
	if !last {
		return c.apply(n.Elems[i], level+1)
	}
	switch c.verb {
	case before:
		n.Elems = slices.Insert(n.Elems, int(i), c.to)
	case after:
		n.Elems = slices.Insert(n.Elems, int(i)+1, c.to)
	case remove:
		n.Elems = slices.Delete(n.Elems, int(i), int(i)+1)
	default:
		n.Elems[i] = c.to
	}
	return nil
}

// changeAt returns n with a change at a path. doing is the verb in PostgreSQL's error.
func changeAt(n *value.JSONNode, path value.Datum, v verb, to, doing string) (*value.JSONNode, error) {
	a := path.(*value.Array)
	switch {
	case len(a.Dims) > 1:
		return nil, pgerror.New("2202E", "wrong number of array subscripts")
	case scalar(n):
		return nil, pgerror.New(pgerror.InvalidParameterValue, "cannot %s path in scalar", doing)
	case len(a.Elems) == 0:
		return n, nil
	case len(n.Elems)+len(n.Members) == 0 && (v == replace || v == remove):
		return n, nil
	}
	c := pathChange{path: a.Elems, verb: v}
	if v != remove {
		var err error
		if c.to, err = value.ParseJSON(to, true); err != nil {
			return nil, err
		}
	}
	return n, c.apply(n, 0)
}

func deletePath(n *value.JSONNode, a []value.Datum) (*value.JSONNode, error) {
	return changeAt(n, a[0], remove, "", "delete")
}

// setPath implements jsonb_set. a are the path, the new value, and whether to add it.
func setPath(n *value.JSONNode, a []value.Datum) (*value.JSONNode, error) {
	v := replace
	if a[2].(bool) {
		v = set
	}
	return changeAt(n, a[0], v, a[1].(string), "set")
}

func insertPath(n *value.JSONNode, a []value.Datum) (*value.JSONNode, error) {
	v := before
	if a[2].(bool) {
		v = after
	}
	return changeAt(n, a[0], v, a[1].(string), "set")
}

// setLax implements jsonb_set_lax, whose last argument says what NULL as the new value does.
func setLax(env *expr.Env, a []value.Datum) (value.Datum, error) {
	if a[0] == nil || a[1] == nil || a[3] == nil {
		return nil, nil
	}
	treatment, isText := a[4].(string)
	switch {
	case !isText:
	case a[2] != nil:
		return changed(setPath)(env, a[:4])
	case treatment == "raise_exception":
		return nil, pgerror.New(pgerror.NullNotAllowed, "JSON value must not be null").
			WithDetail(`Exception was raised because null_value_treatment is "raise_exception".`).
			WithHint("To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not passed.")
	case treatment == "use_json_null":
		return changed(setPath)(env, []value.Datum{a[0], a[1], "null", a[3]})
	case treatment == "delete_key":
		return changed(deletePath)(env, a[:2])
	case treatment == "return_target":
		return a[0], nil
	}
	return nil, pgerror.New(pgerror.InvalidParameterValue,
		`null_value_treatment must be "delete_key", "return_target", "use_json_null", or "raise_exception"`)
}

func addPathChanges(to expr.Table) {
	to.Calls(map[string]expr.CallFunc{
		"jsonb_delete_path": changed(deletePath),
		"jsonb_set":         changed(setPath),
		"jsonb_insert":      changed(insertPath),
		"jsonb_set_lax":     setLax,
	})
}
