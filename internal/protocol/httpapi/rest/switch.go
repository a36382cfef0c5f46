package rest

import "encoding/json"

// Switch is a boolean in JSON, or a string of one, as RabbitMQ's own tool sends it.
type Switch bool

// JSONSchema returns the schema of a switch in JSON.
func (Switch) JSONSchema() map[string]any {
	return map[string]any{"enum": []any{true, false, "true", "false"}}
}

// UnmarshalJSON implements json.Unmarshaler. Errors: *Refused.
func (s *Switch) UnmarshalJSON(b []byte) error {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	switch v {
	case true, "true":
		*s = true
	case false, "false":
		*s = false
	default:
		return BadRequest("not_boolean: " + string(b) + "; true or false is expected")
	}
	return nil
}
