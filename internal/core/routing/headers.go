package routing

import (
	"fmt"
	"strings"

	"fiveways.dev/fiveways/internal/core/message"
)

// headers matches the message's headers against the arguments of each binding and ignores keys.
// Routing checks all bindings.
type headers struct{ rules list[*headerRule] }

// headerRule is one binding's arguments, compiled. It is immutable.
type headerRule struct {
	b     *Binding
	any   bool // one condition is enough; otherwise all must hold
	wants []field
}

// field is a header in comparable form. A nil value stands for void. In a rule it means that the
// header must exist.
type field struct {
	name  string
	value any
}

func (headers) check(b *Binding) error {
	_, err := compileRule(b)
	return err
}

func (x headers) add(b *Binding, _ siblings) matcher {
	rule, _ := compileRule(b) // checked when it was bound
	return headers{x.rules.with(rule)}
}

func (x headers) remove(b *Binding, _ siblings) matcher {
	for _, rule := range x.rules.items {
		if rule.b == b {
			return headers{x.rules.without(rule)}
		}
	}
	return x
}

func (x headers) match(m *Message, r *Route) {
	if len(x.rules.items) == 0 {
		return
	}
	have := r.headers(m)
	for _, rule := range x.rules.items {
		if rule.holds(have) {
			r.takeOne(rule.b.Destination())
		}
	}
}

// holds reports whether the rule matches. Without conditions, "all" matches every message and "any"
// none.
func (h *headerRule) holds(have []field) bool {
	for _, want := range h.wants {
		if holds(want, have) == h.any {
			return h.any
		}
	}
	return !h.any
}

func holds(want field, have []field) bool {
	for _, f := range have {
		if f.name == want.name {
			return want.value == nil || want.value == f.value
		}
	}
	return false
}

func compileRule(b *Binding) (*headerRule, error) {
	rule := &headerRule{b: b}
	withX := false
	switch mode, ok := b.Args.Get("x-match"); {
	case !ok, mode == "all":
	case mode == "any":
		rule.any = true
	case mode == "all-with-x":
		withX = true
	case mode == "any-with-x":
		rule.any, withX = true, true
	default:
		return nil, badMatchMode(b, mode)
	}
	for _, f := range b.Args {
		if f.Name != "x-match" && !isCondition(f.Name) && (withX || !strings.HasPrefix(f.Name, "x-")) {
			rule.wants = append(rule.wants, field{f.Name, plain(f.Value)})
		}
	}
	return rule, nil
}

func badMatchMode(b *Binding, mode any) error {
	text := fmt.Sprintf("Invalid x-match field type %s (value %v); expected longstr", message.TypeName(mode), mode)
	if s, ok := mode.(string); ok {
		text = fmt.Sprintf(`Invalid x-match field value <<"%s">>; expected all, any, all-with-x, or any-with-x`, s)
	}
	return &Error{ErrInvalidBinding, b.Source, text}
}
