package routing

import (
	"errors"
	"slices"
	"strconv"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/selector"
)

// Condition is a requirement of a binding in addition to the exchange's type. Many goroutines use
// it concurrently.
type Condition interface {
	Match(m *Message) bool
}

// Conditions maps the names of arguments with conditions to functions that compile them. true and
// false count as texts.
type Conditions map[string]func(text string) (Condition, error)

// selectorArg is the argument with a condition in the language of package selector, which every
// table supports.
const selectorArg = "x-selector"

// conditionArgs are the arguments of a binding that hold conditions. A table supports the first one
// and those in its Conditions. A binding with a condition in an unknown language must not be
// treated as one without.
var conditionArgs = []string{selectorArg, "x-sql-selector", copyArg}

// copyArg marks a binding that copies matching messages. This matters only for senders that publish
// copies as separate messages (Message.Apart). For all others it is an ordinary binding.
const copyArg = "x-sql-trigger"

func isCondition(arg string) bool { return slices.Contains(conditionArgs, arg) }

// condition is all the conditions of a binding. It is immutable.
type condition struct {
	key    string      // must all hold
	all    []Condition // the binding has copyArg: matching messages are copied
	copies bool        // why a condition cannot be compiled; then nothing matches
	broken error       // nil, or why a condition cannot be compiled: then nothing matches
}

func (c *condition) match(m *Message) bool {
	if c.broken != nil {
		return false
	}
	for _, one := range c.all {
		if !one.Match(m) {
			return false
		}
	}
	return true
}

// Broken returns why the binding, which was accepted earlier, matches nothing, or nil if it works.
func (b *Binding) Broken() error {
	if b.condition == nil {
		return nil
	}
	return b.condition.broken
}

// Admits reports whether the condition of a binding of the table accepts a message, regardless of
// the exchange's type.
func (t *Table) Admits(b *Binding, m *Message) bool {
	have, ok := t.bySource.Get(b.sourceKey())
	m.exchange = b.Source
	return ok && (have.condition == nil || have.condition.match(m))
}

// conditionOf returns the condition in the arguments of a new binding, nil if they have none. It
// shares an equal one of another binding of the exchange. The error is an ErrInvalidBinding; then
// the condition is broken.
func (t *Table) conditionOf(x *Exchange, b *Binding) (*condition, error) {
	var args message.Table
	for _, name := range conditionArgs {
		if arg, ok := b.Args.Get(name); ok {
			args = append(args, message.Field{Name: name, Value: arg})
		}
	}
	if len(args) == 0 {
		return nil, nil
	}
	c := &condition{key: string(message.AppendTable(nil, args))}
	for i := range x.selected {
		if have := x.selected[i].by; have.key == c.key {
			return have, have.broken
		}
	}
	_, c.copies = b.Args.Get(copyArg)
	for _, arg := range args {
		one, err := t.compile(arg.Name, arg.Value)
		if err != nil {
			c.broken = &Error{ErrInvalidBinding, b.Source, "invalid arg '" + arg.Name + "' for binding: " + err.Error()}
			break
		}
		c.all = append(c.all, one)
	}
	return c, c.broken
}

// compile compiles the condition in an argument.
func (t *Table) compile(name string, arg any) (Condition, error) {
	compile := t.conditions[name]
	if name == selectorArg {
		compile = compileSelector
	}
	flag, isFlag := arg.(bool)
	text, isText := arg.(string)
	switch {
	case compile == nil:
		return nil, errors.New("unknown selector language")
	case isFlag && name != selectorArg:
		return compile(strconv.FormatBool(flag))
	case !isText:
		return nil, errors.New("expected longstr, got " + message.TypeName(arg))
	}
	return compile(text)
}

// selectorCondition is a condition in the language of package selector.
type selectorCondition struct{ by *selector.Selector }

func compileSelector(text string) (Condition, error) {
	s, err := selector.Compile(text)
	return selectorCondition{s}, err
}

func (c selectorCondition) Match(m *Message) bool {
	return c.by.MatchMessage(&selector.Message{Exchange: m.exchange, Key: view(m.Key), Props: m.Props})
}
