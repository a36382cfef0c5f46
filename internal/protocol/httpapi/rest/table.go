package rest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/declareargs"
)

// Table is an AMQP table, which is an object in JSON. A nil table is an empty object.
type Table message.Table

// MarshalJSON implements json.Marshaler.
func (t Table) MarshalJSON() ([]byte, error) { return json.Marshal(ShowTable(message.Table(t))) }

// JSONSchema returns the schema of a table in JSON.
func (Table) JSONSchema() map[string]any { return map[string]any{"type": "object"} }

// ShowTable converts an AMQP table for JSON. If several fields have the same name, the first
// counts.
func ShowTable(t message.Table) map[string]any {
	out := make(map[string]any, len(t))
	for _, f := range slices.Backward(t) {
		out[f.Name] = showValue(f.Value)
	}
	return out
}

// showValue converts a value of a table for JSON. As in RabbitMQ, bytes that are not text become
// base64, numbers that JSON lacks become their names, and a void becomes "undefined".
func showValue(v any) any {
	switch v := v.(type) {
	case nil:
		return "undefined"
	case message.Table:
		return ShowTable(v)
	case message.Array:
		return List(v, showValue)
	case message.Bytes:
		if utf8.Valid(v) {
			return string(v)
		}
		return base64.StdEncoding.EncodeToString(v)
	case message.Decimal:
		return float64(v.Value) / math.Pow10(int(v.Scale))
	case float32:
		return showFloat(float64(v))
	case float64:
		return showFloat(v)
	}
	return v
}

func showFloat(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Sprint(f)
	}
	return f
}

// Queue types that RabbitMQ replicates.
const (
	Quorum = "quorum"
	Stream = declareargs.StreamType
)

// QueueType returns the type of a queue that was declared with these arguments.
func QueueType(args message.Table) string {
	switch kind, _ := args.Get("x-queue-type"); kind {
	case Quorum:
		return Quorum
	case Stream:
		return Stream
	}
	return "classic"
}
