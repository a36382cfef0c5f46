package openapi

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"
)

// use is the direction in which a type is used. In answers all fields are present except optional
// ones; in requests all fields are optional.
type use int

const (
	answered use = iota
	read
)

// selfDescribing is a type whose JSON form does not follow from its fields.
type selfDescribing interface{ JSONSchema() map[string]any }

var (
	isSelfDescribing = reflect.TypeFor[selfDescribing]()
	isMarshaler      = reflect.TypeFor[json.Marshaler]()
	isUnmarshaler    = reflect.TypeFor[json.Unmarshaler]()
	isText           = reflect.TypeFor[encoding.TextMarshaler]()
)

// known are the schemas of types of the standard library.
var known = map[reflect.Type]object{
	reflect.TypeFor[time.Time]():       {"type": "string", "format": "date-time"},
	reflect.TypeFor[json.RawMessage](): {},
}

// schemas holds the schemas of types. Named structs are components, which other schemas refer to.
type schemas struct {
	components object
	names      map[used]string
}

type used struct {
	t reflect.Type
	u use
}

func newSchemas() *schemas { return &schemas{components: object{}, names: map[used]string{}} }

// of returns the schema of a value's type.
func (s *schemas) of(v any, u use) (object, error) { return s.ofType(reflect.TypeOf(v), u) }

// kinds are the schemas of simple types.
var kinds = map[reflect.Kind]object{
	reflect.Bool: {"type": "boolean"}, reflect.String: {"type": "string"}, reflect.Interface: {},
	reflect.Float32: {"type": "number"}, reflect.Float64: {"type": "number"},
	reflect.Int: {"type": "integer"}, reflect.Int8: {"type": "integer"}, reflect.Int16: {"type": "integer"}, reflect.Int32: {"type": "integer"},
	reflect.Int64: {"type": "integer"}, reflect.Uint: {"type": "integer", "minimum": 0}, reflect.Uint8: {"type": "integer", "minimum": 0, "maximum": 255},
	reflect.Uint16: {"type": "integer", "minimum": 0}, reflect.Uint32: {"type": "integer", "minimum": 0}, reflect.Uint64: {"type": "integer", "minimum": 0},
}

func (s *schemas) ofType(t reflect.Type, u use) (object, error) {
	if schema, ok := known[t]; ok {
		return schema, nil
	}
	if t.Kind() == reflect.Pointer {
		schema, err := s.ofType(t.Elem(), u)
		return orNull(schema), err
	}
	if t.Implements(isSelfDescribing) {
		return reflect.Zero(t).Interface().(selfDescribing).JSONSchema(), nil
	}
	if t.Implements(isMarshaler) || reflect.PointerTo(t).Implements(isUnmarshaler) {
		return nil, fmt.Errorf("%v has a form in JSON of its own: give it a method JSONSchema() map[string]any", t)
	}
	if t.Implements(isText) {
		return object{"type": "string"}, nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		items, err := s.ofType(t.Elem(), u)
		return object{"type": "array", "items": items}, err
	case reflect.Map:
		values, err := s.ofType(t.Elem(), u)
		return object{"type": "object", "additionalProperties": values}, err
	case reflect.Struct:
		return s.ofStruct(t, u)
	}
	schema, ok := kinds[t.Kind()]
	if !ok {
		return nil, fmt.Errorf("%v has no form in JSON", t)
	}
	return schema, nil
}

// orNull returns a schema that also allows null.
func orNull(schema object) object {
	if kind, ok := schema["type"].(string); ok && len(schema) == 1 {
		return object{"type": []string{kind, "null"}}
	}
	return object{"anyOf": []object{schema, {"type": "null"}}}
}

// ofStruct returns a reference to the component of a struct, which it creates on the first use. It
// returns the schema of an unnamed struct itself.
func (s *schemas) ofStruct(t reflect.Type, u use) (object, error) {
	if t.Name() == "" {
		return s.fields(t, u)
	}
	name, ok := s.names[used{t, u}]
	if !ok {
		name = s.name(t)
		s.names[used{t, u}] = name
		s.components[name] = object{} // a type may refer to itself
		schema, err := s.fields(t, u)
		if err != nil {
			return nil, err
		}
		s.components[name] = schema
	}
	return object{"$ref": "#/components/schemas/" + name}, nil
}

// name returns a unique name for a component. If a type is used in both answers and requests, the
// name for requests ends in Input.
func (s *schemas) name(t reflect.Type) string {
	name := path.Base(t.PkgPath()) + "." + capital(t.Name())
	for s.components[name] != nil {
		name += "Input"
	}
	return name
}

// fields returns the schema of a struct, including the fields of embedded structs.
func (s *schemas) fields(t reflect.Type, u use) (object, error) {
	properties, required := object{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		tag, tagged := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		if f.Anonymous && !tagged || name == "-" || !f.IsExported() || hidden(t, f) {
			continue
		}
		name = cmp.Or(name, f.Name)
		leftOut := slices.Contains(strings.Split(options, ","), "omitempty")
		kind := f.Type
		if leftOut && u == answered && kind.Kind() == reflect.Pointer {
			kind = kind.Elem() // never null
		}
		schema, err := s.ofType(kind, u)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		properties[name] = schema
		if u == answered && !leftOut {
			required = append(required, name)
		}
	}
	out := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	return out, nil
}

// hidden reports whether a field belongs to an embedded struct that has a schema of its own.
func hidden(t reflect.Type, f reflect.StructField) bool {
	for n := len(f.Index) - 1; n > 0; n-- {
		outer := t.FieldByIndex(f.Index[:n])
		if _, tagged := outer.Tag.Lookup("json"); tagged || !outer.Anonymous {
			return true
		}
	}
	return false
}
