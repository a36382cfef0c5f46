package mbus

import (
	"slices"
	"strconv"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

func temporaryFunctions() []*expr.Function {
	return []*expr.Function{
		commented(scalar("create_temporary_queue", nil, value.Text, func(s *Session, _ *expr.Env, _ arguments) (value.Datum, error) {
			return s.makeTemporary()
		}), "make a queue that ends with the session; returns its name"),
		commented(scalar("create_temporary_consumer", []expr.Arg{arg("qname", value.Text), optional("selector", value.Text)},
			value.Text, (*Session).createTemporaryConsumer), "make a temporary queue that gets a copy of what is posted to a queue; returns its name"),
		commented(scalar("clear_tempq", nil, value.Void, func(*Session, *expr.Env, arguments) (value.Datum, error) { return void, nil }),
			"nothing to do: temporary queues end with their sessions"),
	}
}

// makeTemporary creates a queue that only this session can read. It is deleted when the session
// ends.
func (s *Session) makeTemporary() (string, error) {
	if err := s.mayChange("create_temporary_queue"); err != nil {
		return "", err
	}
	s.tempNo++
	name := tempPrefix + s.tag + "." + strconv.Itoa(s.tempNo)
	policy := queuePolicy()
	policy.Unawaited = true
	_, err := s.own.DeclareQueue(catalog.QueueSpec{Name: name, Exclusive: true, Args: queueArgs(), Policy: policy})
	if err != nil {
		return "", s.failed(err)
	}
	s.temps = append(s.temps, name)
	s.change(step{undo: func() {
		s.own.DeleteQueue(name, false, false) //nolint:errcheck // a rollback cannot report errors
		s.temps = slices.DeleteFunc(s.temps, func(n string) bool { return n == name })
	}})
	return name, nil
}

func (s *Session) createTemporaryConsumer(env *expr.Env, a arguments) (value.Datum, error) {
	t := trigger{Src: a.text(0), Selector: a.selector(1)}
	s.noticeMissing(env, "source", t.Src)
	if err := s.mayCopyFrom(t.Src); err != nil {
		return nil, err
	}
	if err := s.checkTrigger(t); err != nil {
		return nil, err
	}
	var err error
	if t.Dst, err = s.makeTemporary(); err != nil {
		return nil, err
	}
	d := s.edit()
	d.bindTrigger(t, "")
	return t.Dst, d.make()
}
