package policies

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// term formats a JSON value as in RabbitMQ's error texts, in Erlang notation.
func term(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return binary(v)
	case []any:
		return "[" + joined(v, term) + "]"
	case map[string]any:
		return "#{" + joined(slices.Sorted(maps.Keys(v)), func(key string) string { return binary(key) + " => " + term(v[key]) }) + "}"
	case json.Number:
		return v.String()
	}
	return fmt.Sprint(v) // a boolean
}

// Term formats a JSON value as in RabbitMQ's error texts, in Erlang notation.
func Term(value json.RawMessage) string {
	v, err := decode(value)
	if err != nil {
		return string(value)
	}
	return term(v)
}

func binary(s string) string {
	if s == "" {
		return "<<>>"
	}
	return fmt.Sprintf("<<%q>>", s)
}

// terms formats settings with their values.
func terms(keys []string, values map[string]any) string {
	return "[" + joined(keys, func(key string) string { return "{" + binary(key) + "," + term(values[key]) + "}" }) + "]"
}

func joined[T any](many []T, show func(T) string) string {
	shown := make([]string, len(many))
	for i, v := range many {
		shown[i] = show(v)
	}
	return strings.Join(shown, ",")
}

// decode decodes a JSON value and keeps numbers as written.
func decode(value json.RawMessage) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(string(value)))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}
