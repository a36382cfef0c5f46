package mbus

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus/grants"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// viewDef is a view created by create_view. INSERT posts a message and SELECT takes one, with the
// rights of the owner.
type viewDef struct {
	name     string        // "schema.name"
	Queue    string        `json:"queue"`
	Consumer string        `json:"consumer"`
	Owner    string        `json:"owner"`
	Columns  []int         `json:"columns"` // columns of qt_model
	Grants   grants.Grants `json:"grants,omitempty"`
}

// publicSchema is the schema of views.
const publicSchema = grants.Public

func viewFunctions() []*expr.Function {
	names := []expr.Arg{
		arg("qname", value.Text), defaulted("cname", defaultConsumer), defaulted("sname", publicSchema), optional("viewname", value.Text),
	}
	no := func(name string) expr.Arg {
		return expr.Arg{Name: name, Type: value.Bool, HasDefault: true, Default: false, DefaultSQL: "false"}
	}
	return []*expr.Function{
		commented(scalar("create_view", names, value.Void,
			func(s *Session, _ *expr.Env, a arguments) (value.Datum, error) {
				return void, s.createView(a, []int{colData})
			}),
			"make a view: INSERT posts into the queue, SELECT takes a message; rights on it can be granted"),
		commented(scalar("create_view_prop", append(slices.Clone(names), no("with_delay"), no("with_expire")), value.Void,
			func(s *Session, _ *expr.Env, a arguments) (value.Datum, error) {
				columns := []int{colData, colProperties}
				if a.boolean(4) {
					columns = append(columns, colDelayed)
				}
				if a.boolean(5) {
					columns = append(columns, colExpires)
				}
				return void, s.createView(a, columns)
			}), "make a view as create_view does, with the properties and what else is asked for"),
	}
}

func (s *Session) createView(a arguments, columns []int) error {
	if err := s.mayChange("create_view"); err != nil {
		return err
	}
	queueName, consumer, in := a.text(0), a.text(1), a.text(2)
	name := queueName + "_q"
	if a.has(3) {
		name = a.text(3)
	}
	if !s.isQueue(queueName) || !s.isConsumer(queueName, consumer) {
		return s.noConsumer(queueName, consumer)
	}
	if in != publicSchema {
		return pgerror.New(pgerror.InvalidSchema, "schema \"%s\" does not exist", in)
	}
	if err := s.own.MayConfigure("queue", queueName); err != nil {
		return s.failed(err)
	}
	if _, ok := s.viewNamed(name); ok {
		return pgerror.New("42P07", "relation \"%s\" already exists", name)
	}
	return s.set(viewKind+in+"."+name, viewDef{Queue: queueName, Consumer: consumer, Owner: s.user, Columns: columns})
}

// viewNamed returns a view of the schema public.
func (s *Session) viewNamed(name string) (*viewDef, bool) {
	full := publicSchema + "." + name
	v, ok := s.known().views[full]
	return v, ok && !s.hidden(viewKind+full)
}

// viewSchema is the schema public, which contains the views.
type viewSchema struct{ s *Session }

func (c *viewSchema) Name() string { return publicSchema }

func (c *viewSchema) Version() uint64 { return c.s.version() }

func (c *viewSchema) Functions(*expr.Env, string) []*expr.Function { return nil }

func (c *viewSchema) AllFunctions(*expr.Env) []*expr.Function { return nil }

func (c *viewSchema) Type(name string) *value.Type {
	if name == value.Hstore.Name {
		return value.Hstore
	}
	return nil
}

func (c *viewSchema) Relation(_ *expr.Env, name string) schema.Relation {
	if v, ok := c.s.viewNamed(name); ok {
		return &view{c.s, v}
	}
	return nil
}

func (c *viewSchema) AllRelations(*expr.Env) (all []schema.Relation) {
	for _, name := range slices.Sorted(maps.Keys(c.s.known().views)) {
		if v, ok := c.s.viewNamed(strings.TrimPrefix(name, publicSchema+".")); ok {
			all = append(all, &view{c.s, v})
		}
	}
	return all
}

// view is a view in a session.
type view struct {
	s   *Session
	def *viewDef
}

func (v *view) OID() uint32 { return nameOID(v.def.name) }

func (v *view) Name() string { return strings.TrimPrefix(v.def.name, publicSchema+".") }

func (v *view) Kind() byte { return 'v' }

// Takes implements schema.Taker.
func (v *view) Takes() {}

// Owner returns the user whose rights apply.
func (v *view) Owner() string { return v.def.Owner }

func (v *view) Columns() []value.Field {
	columns := make([]value.Field, len(v.def.Columns))
	for i, c := range v.def.Columns {
		columns[i] = value.QTModel.Fields[c]
	}
	return columns
}

// May implements schema.Guarded.
func (v *view) May(privilege string) error {
	s := v.s
	if s.user == v.def.Owner || s.Superuser() || v.def.Grants.Has(s.user, privilege) {
		return nil
	}
	return pgerror.New(pgerror.InsufficientPrivilege, "permission denied for view %s", v.Name())
}

// Scan takes one message.
func (v *view) Scan(env *expr.Env, _ []bool) iter.Seq2[[]value.Datum, error] {
	return func(yield func([]value.Datum, error) bool) {
		all, err := v.take(env)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, m := range all {
			row := make([]value.Datum, len(v.def.Columns))
			for i, c := range v.def.Columns {
				row[i] = m[c]
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

func (v *view) take(env *expr.Env) ([]value.Record, error) {
	if err := v.May("SELECT"); err != nil {
		return nil, err
	}
	if err := v.s.mayChange("consume"); err != nil {
		return nil, err
	}
	owner, err := v.s.rightsOf(v.def.Owner, v.def.Queue, consumeFunction(v.def.Queue, v.def.Consumer))
	if err != nil {
		return nil, err
	}
	if !v.s.isQueue(v.def.Queue) || !v.s.isConsumer(v.def.Queue, v.def.Consumer) {
		return nil, noSuchQueue(v.def.Queue)
	}
	return v.s.fetch(source{owner, v.def.Queue, consumerQueue(v.def.Queue, v.def.Consumer)}, env, 1, nil)
}

// Insert posts a row.
func (v *view) Insert(env *expr.Env, row []value.Datum, _ []bool) ([]value.Datum, error) {
	if err := v.May("INSERT"); err != nil {
		return nil, err
	}
	if err := v.s.mayChange("post"); err != nil {
		return nil, err
	}
	owner, err := v.s.rightsOf(v.def.Owner, v.def.Queue, postFunction(v.def.Queue))
	if err != nil {
		return nil, err
	}
	if !v.s.isQueue(v.def.Queue) {
		return nil, raise("Unknown queue:%s", v.def.Queue)
	}
	a := make(arguments, 6) // the arguments of post_<q>
	for i, c := range v.def.Columns {
		switch c {
		case colData:
			a[0] = row[i]
		case colProperties:
			a[2] = row[i]
		case colDelayed:
			a[3] = row[i]
		case colExpires:
			a[4] = row[i]
		}
	}
	if _, err := v.s.post(owner, env, v.def.Queue, a); err != nil {
		return nil, err
	}
	return row, nil
}

// Grant grants a privilege on the view to users.
func (v *view) Grant(_ *expr.Env, privilege string, users []string) error {
	return v.regrant(privilege, users, true)
}

// Revoke revokes a privilege on the view from users.
func (v *view) Revoke(_ *expr.Env, privilege string, users []string) error {
	return v.regrant(privilege, users, false)
}

func (v *view) regrant(privilege string, users []string, give bool) error {
	s := v.s
	if s.user != v.def.Owner && !s.Superuser() {
		return pgerror.New(pgerror.InsufficientPrivilege, "permission denied for view %s", v.Name())
	}
	var all []grants.Grant
	for _, u := range users {
		who := u
		if strings.EqualFold(u, publicSchema) {
			who = publicSchema
		} else if _, err := s.b.User(u); err != nil {
			return noSuchRole(u)
		}
		for _, p := range grants.Named(privilege) {
			all = append(all, grants.Grant{Who: who, Privilege: p})
		}
	}
	made, err := s.setGrants(v.def.name, all, give)
	if err == nil { // other sessions may grant and revoke before a rollback, which must not undo that
		s.change(step{undo: func() { s.setGrants(v.def.name, made, !give) }}) //nolint:errcheck // a rollback cannot report errors
	}
	return err
}

// setGrants grants privileges on a view, or revokes them, and returns those that this has changed.
// It changes nothing if others have dropped the view.
func (s *Session) setGrants(viewName string, all []grants.Grant, give bool) (made []grants.Grant, err error) {
	var d broker.Definitions
	d.AlterParameter(component, viewKind+viewName, func(text json.RawMessage) json.RawMessage {
		var def viewDef
		if json.Unmarshal(text, &def) != nil {
			return nil
		}
		if made = def.Grants.Change(all, give); len(made) == 0 {
			return nil
		}
		return textOf(def)
	})
	return made, s.failed(s.own.Define(&d))
}

func noSuchRole(name string) error {
	return pgerror.New(pgerror.UndefinedObject, "role \"%s\" does not exist", name)
}
