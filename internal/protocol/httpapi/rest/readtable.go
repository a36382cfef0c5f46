package rest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"fiveways.dev/fiveways/internal/core/message"
)

// UnmarshalJSON implements json.Unmarshaler. An empty list is an empty table, because some clients
// cannot distinguish them. Errors: *Refused.
func (t *Table) UnmarshalJSON(b []byte) error {
	var in any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&in); err != nil {
		return err
	}
	if list, ok := in.([]any); ok && len(list) == 0 {
		in = map[string]any{}
	}
	fields, ok := in.(map[string]any)
	if !ok {
		return BadRequest("arguments and headers are JSON objects")
	}
	table, err := ReadTable(fields)
	*t = Table(table)
	return err
}

// ReadTable returns an AMQP table from a JSON object whose numbers are json.Number, with its fields
// sorted by name. As in RabbitMQ, a number becomes a long or a double, and a string a longstr. It
// rejects null. Errors: *Refused.
func ReadTable(in map[string]any) (message.Table, error) {
	t, err := readTable(in)
	if err != nil {
		return nil, err
	}
	if err := t.Validate(); err != nil {
		return nil, BadRequest(err.Error())
	}
	return t, nil
}

func readTable(in map[string]any) (t message.Table, err error) {
	for _, name := range slices.Sorted(maps.Keys(in)) {
		v, err := readValue(in[name])
		if err != nil {
			return nil, err
		}
		t = append(t, message.Field{Name: name, Value: v})
	}
	return t, nil
}

func readValue(v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, BadRequest("null_not_allowed")
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i, nil
		}
		f, err := v.Float64()
		if err != nil {
			return nil, BadRequest("the number " + v.String() + " is too large")
		}
		return f, nil
	case map[string]any:
		return readTable(v)
	case []any:
		a := make(message.Array, len(v))
		for i := range v {
			var err error
			if a[i], err = readValue(v[i]); err != nil {
				return nil, err
			}
		}
		return a, nil
	}
	return v, nil // a string or a boolean
}
