package worker

import (
	"context"
	"encoding/json"
)

// Codec converts payloads to the bodies of jobs and back.
type Codec interface {
	Marshal(v any) ([]byte, error)
	// Unmarshal decodes body into the value that v points to.
	Unmarshal(body []byte, v any) error
}

// JSON is the default codec. Payloads of type []byte need no codec: they are the body unchanged.
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

// Queue is a queue of jobs that all have payloads of type T.
type Queue[T any] struct {
	Jobs  Jobs
	Name  string
	Codec Codec // nil means JSON, or none for []byte
}

// Enqueue is like Jobs.Enqueue, with a payload in place of the body.
func (q Queue[T]) Enqueue(ctx context.Context, payload T, o EnqueueOptions) (Enqueued, error) {
	body, err := encode(q.Codec, payload)
	if err != nil {
		return Enqueued{}, err
	}
	return q.Jobs.Enqueue(ctx, q.Name, body, o)
}
