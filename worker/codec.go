package worker

import (
	"context"
	"encoding/json"
)

// Codec turns payloads into the bodies of jobs, and back.
type Codec interface {
	Marshal(v any) ([]byte, error)
	// Unmarshal decodes into what v points to.
	Unmarshal(body []byte, v any) error
}

// JSON is the codec of payloads of which no other is said. Payloads of type []byte need none: they
// are the body as it is.
var JSON Codec = jsonCodec{}

type jsonCodec struct{}

func (jsonCodec) Marshal(v any) ([]byte, error)      { return json.Marshal(v) }
func (jsonCodec) Unmarshal(body []byte, v any) error { return json.Unmarshal(body, v) }

func encode[T any](c Codec, payload T) ([]byte, error) {
	if raw, ok := any(payload).([]byte); ok && c == nil {
		return raw, nil
	}
	if c == nil {
		c = JSON
	}
	return c.Marshal(payload)
}

func decode[T any](c Codec, body []byte) (payload T, err error) {
	if raw, ok := any(&payload).(*[]byte); ok && c == nil {
		*raw = body
		return payload, nil
	}
	if c == nil {
		c = JSON
	}
	err = c.Unmarshal(body, &payload)
	return payload, err
}

// Queue is a queue of jobs that all have a payload of type T.
type Queue[T any] struct {
	Jobs  Jobs
	Name  string
	Codec Codec // nil is JSON, or none for []byte
}

// Enqueue is Jobs.Enqueue with a payload.
func (q Queue[T]) Enqueue(ctx context.Context, payload T, o EnqueueOptions) (Enqueued, error) {
	body, err := encode(q.Codec, payload)
	if err != nil {
		return Enqueued{}, err
	}
	return q.Jobs.Enqueue(ctx, q.Name, body, o)
}
