package rest

import (
	"encoding/json"
	"errors"
	"strings"
)

// Tags is a list of tags. In JSON it is a list, or one string with commas as older clients of
// RabbitMQ send it.
type Tags []string

// JSONSchema returns the schema of tags in JSON. In answers they are always a list.
func (Tags) JSONSchema() map[string]any {
	list := map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
	return map[string]any{"oneOf": []any{list, map[string]any{"type": "string"}}}
}

// MarshalJSON implements json.Marshaler. Nil tags are an empty list.
func (t Tags) MarshalJSON() ([]byte, error) {
	if t == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]string(t))
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Tags) UnmarshalJSON(b []byte) error {
	var list []string
	if err := json.Unmarshal(b, &list); err == nil {
		*t = list
		return nil
	}
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return errors.New("tags must be a list of strings, or one string with commas")
	}
	*t = Tags{}
	for _, tag := range strings.Split(text, ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			*t = append(*t, tag)
		}
	}
	return nil
}
