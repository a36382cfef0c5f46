package expr

import (
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// isPolymorphic reports whether the arguments of a call determine what t stands for.
func isPolymorphic(t *value.Type) bool { return isFirstFamily(t) || isSecondFamily(t) }

// isFirstFamily reports whether t is a type whose arguments must all have the same element type,
// without conversion.
func isFirstFamily(t *value.Type) bool {
	switch t {
	case value.AnyElement, value.AnyArray, value.AnyNonArray, value.AnyEnum, value.AnyRange:
		return true
	}
	return t.Name == "anymultirange"
}

// isSecondFamily reports whether t is a type whose arguments are converted to a common type.
func isSecondFamily(t *value.Type) bool {
	switch t {
	case value.AnyCompatible, value.AnyCompatArray, value.AnyCompatNonArr:
		return true
	}
	return t.Name == "anycompatiblerange" || t.Name == "anycompatiblemultirange"
}

// binding holds what the polymorphic types of one call stand for.
type binding struct {
	element, array *value.Type // of the first family; array is the type as given
	nonArray       bool
	common         *value.Type // of the second family
	commonNonArray bool
	firstUnknown   bool // an argument of the first family is untyped and no other argument decides
}

// consistent reports whether the types actual can bind the polymorphic types in declared.
func consistent(actual, declared []*value.Type) bool {
	_, err := bind(actual, declared)
	return err == nil
}

// bind determines what the polymorphic types stand for.
func bind(actual, declared []*value.Type) (binding, error) {
	var b binding
	var compatible []*value.Type
	second := false
	for i, d := range declared {
		a := actual[i]
		switch {
		case d == value.AnyElement || d == value.AnyNonArray || d == value.AnyEnum:
			if d == value.AnyEnum && a != value.Unknown && !a.IsEnum() {
				return b, notEnum(a)
			}
			b.nonArray = b.nonArray || d == value.AnyNonArray
			if a == value.Unknown {
				b.firstUnknown = true
				continue
			}
			if b.element != nil && b.element != a {
				return b, notAlike(d, "anyelement", b.element, a)
			}
			b.element = a
		case d == value.AnyArray:
			if a == value.Unknown {
				b.firstUnknown = true
				continue
			}
			if b.array != nil && b.array != a {
				return b, notAlike(d, "anyarray", b.array, a)
			}
			if !a.IsArray() && a != value.AnyArray {
				return b, pgerror.New(pgerror.DatatypeMismatch, "argument declared %s is not an array but type %s", d, a)
			}
			b.array = a
		case d == value.AnyCompatible || d == value.AnyCompatNonArr:
			second, b.commonNonArray = true, b.commonNonArray || d == value.AnyCompatNonArr
			if a != value.Unknown {
				compatible = append(compatible, a)
			}
		case d == value.AnyCompatArray:
			second = true
			if a == value.Unknown {
				continue
			}
			if !a.IsArray() {
				return b, pgerror.New(pgerror.DatatypeMismatch, "argument declared %s is not an array but type %s", d, a)
			}
			compatible = append(compatible, a.Elem)
		case isPolymorphic(d):
			if a == value.Unknown {
				b.firstUnknown = b.firstUnknown || isFirstFamily(d)
				continue
			}
			return b, pgerror.New(pgerror.FeatureNotSupported, "type %s is not supported", d)
		}
	}
	if err := b.settleFirst(); err != nil {
		return b, err
	}
	if second {
		return b, b.settleSecond(compatible)
	}
	return b, nil
}

func notAlike(declared *value.Type, family string, first, second *value.Type) error {
	return pgerror.New(pgerror.DatatypeMismatch, "arguments declared \"%s\" are not all alike", family).WithDetail("%s versus %s", first, second)
}

func notEnum(a *value.Type) error {
	return pgerror.New(pgerror.DatatypeMismatch, "type matched to anyenum is not an enum type: %s", a)
}

func (b *binding) settleFirst() error {
	if b.array != nil && b.array != value.AnyArray {
		if b.element == nil {
			b.element = b.array.Elem
		} else if b.element != b.array.Elem {
			return pgerror.New(pgerror.DatatypeMismatch, "argument declared %s is not consistent with argument declared %s", "anyarray", "anyelement").
				WithDetail("%s versus %s", b.array, b.element)
		}
	}
	if b.nonArray && b.element != nil && b.element.IsArray() {
		return pgerror.New(pgerror.DatatypeMismatch, "type matched to anynonarray is an array type: %s", b.element)
	}
	return nil
}

func (b *binding) settleSecond(types []*value.Type) error {
	if len(types) == 0 {
		b.common = nil
		return nil
	}
	common, ok := commonTypeOf(types)
	if !ok {
		return pgerror.New(pgerror.DatatypeMismatch, "arguments of anycompatible family cannot be cast to a common type")
	}
	if b.commonNonArray && common.IsArray() {
		return pgerror.New(pgerror.DatatypeMismatch, "type matched to anycompatiblenonarray is an array type: %s", common)
	}
	for _, t := range types {
		if !canCoerceOne(t, common, implicit) {
			return pgerror.New(pgerror.DatatypeMismatch, "arguments of anycompatible family cannot be cast to a common type")
		}
	}
	b.common = common
	return nil
}

// errUndetermined is the error for a call whose arguments have no known type.
func errUndetermined() error {
	return pgerror.New(pgerror.DatatypeMismatch, "could not determine polymorphic type because input has type %s", "unknown")
}

// resolvePolymorphic replaces the polymorphic types among the declared types and the result.
func resolvePolymorphic(actual, declared []*value.Type, result *value.Type) (args []*value.Type, returns *value.Type, err error) {
	args, returns = declared, result
	first, second := isFirstFamily(result), isSecondFamily(result)
	for _, d := range declared {
		first, second = first || isFirstFamily(d), second || isSecondFamily(d)
	}
	if !first && !second {
		return args, returns, nil
	}
	b, err := bind(actual, declared)
	if err != nil {
		return nil, nil, err
	}
	if first && b.element == nil && b.array == nil && b.firstUnknown {
		return nil, nil, errUndetermined()
	}
	if second && b.common == nil {
		b.common = value.Text // as for CASE: untyped constants alone are text
	}
	args = make([]*value.Type, len(declared))
	for i, d := range declared {
		if args[i], err = b.stand(d); err != nil {
			return nil, nil, err
		}
	}
	if returns, err = b.stand(result); err != nil {
		return nil, nil, err
	}
	return args, returns, nil
}

// stand returns what a type stands for.
func (b *binding) stand(t *value.Type) (*value.Type, error) {
	switch t {
	case value.AnyElement, value.AnyNonArray, value.AnyEnum:
		if b.element == nil {
			return nil, errUndetermined()
		}
		return b.element, nil
	case value.AnyArray:
		if b.array != nil {
			return b.array, nil
		}
		return arrayOf(b.element)
	case value.AnyCompatible, value.AnyCompatNonArr:
		return b.common, nil
	case value.AnyCompatArray:
		return arrayOf(b.common)
	}
	return t, nil
}

func arrayOf(t *value.Type) (*value.Type, error) {
	if t == nil {
		return nil, errUndetermined()
	}
	if t.Array == nil {
		return nil, pgerror.New(pgerror.UndefinedObject, "could not find array type for data type %s", t)
	}
	return value.ArrayOf(t), nil
}

// commonTypeOf returns the type to which all types can be converted, as for CASE and UNION. All
// types must be known.
func commonTypeOf(types []*value.Type) (*value.Type, bool) {
	t := types[0]
	for _, n := range types[1:] {
		if n == t {
			continue
		}
		if n.Category != t.Category {
			return t, false
		}
		if !t.Prefer && canCoerceOne(t, n, implicit) && !canCoerceOne(n, t, implicit) {
			t = n
		}
	}
	return t, true
}
