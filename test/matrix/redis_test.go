package matrix

import (
	"context"
	"errors"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/test/brokertest"
)

// The Redis protocol has two ways into and out of a queue.
var (
	jobsProtocol  = protocol{name: "jobs", plain: true, marks: true, said: saidByJobs, shown: shownByJobs, value: redisValue, dial: dialJobs}
	listsProtocol = protocol{name: "lists", plain: true, said: onlyBody, shown: onlyBody, dial: dialLists}
)

func dialRedis(b *brokertest.Broker) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: b.RedisAddr()})
}

// onlyBody reduces a message to what a list element has.
func onlyBody(m message) message { return message{body: m.body} }

// saidByJobs reduces a message to what JOB.ENQUEUE can express: two of the properties, and text
// headers.
func saidByJobs(m message) message {
	properties := map[string]string{}
	for _, name := range []string{"priority", "expiration"} {
		if v := m.properties[name]; v != "" {
			properties[name] = v
		}
	}
	var headers []header
	for _, h := range m.headers {
		if h.text != nil {
			headers = append(headers, header{h.name, *h.text, h.text})
		}
	}
	m.properties, m.headers = properties, headers
	return m
}

// shownByJobs reduces a message to what JOB.TAKE returns, which has no properties.
func shownByJobs(m message) message {
	m.properties = nil
	return m
}

// redisValue converts a header to the form in JOB.TAKE: integers and text.
func redisValue(v any) (any, bool) {
	switch v := v.(type) {
	case nil, amqp.Table, []any:
		return nil, false
	case string, int64:
		return v, true
	case int32:
		return int64(v), true
	case []byte:
		return string(v), true
	case time.Time:
		return v.Unix(), true
	case amqp.Decimal:
		return fmt.Sprintf("%d.%0*d", v.Value/100, v.Scale, v.Value%100), true // the decimals in the cases have two digits
	}
	return fmt.Sprint(v), true
}

type jobsEnd struct{ r *redis.Client }

func dialJobs(_ context.Context, b *brokertest.Broker) (endpoint, error) {
	return &jobsEnd{dialRedis(b)}, nil
}

func (e *jobsEnd) close() { e.r.Close() }

// declare creates a queue in the only way that the protocol has: by enqueuing a job.
func (e *jobsEnd) declare(ctx context.Context, queue string, priorities int) error {
	if priorities > 0 {
		return errors.ErrUnsupported
	}
	if err := e.send(ctx, queue, message{body: []byte("first")}); err != nil {
		return err
	}
	_, _, err := e.take(ctx, queue)
	return err
}

func (e *jobsEnd) send(ctx context.Context, queue string, m message) error {
	args := []any{"JOB.ENQUEUE", queue, m.body}
	if m.id != "" {
		args = append(args, "ID", m.id)
	}
	if m.delayed > 0 {
		args = append(args, "BACKOFF", m.delayed.Milliseconds())
	}
	if m.expires > 0 {
		args = append(args, "EXPIRE", m.expires.Milliseconds())
	}
	m = saidByJobs(m)
	for name, option := range map[string]string{"priority": "PRIORITY", "expiration": "EXPIRE"} {
		if v := m.properties[name]; v != "" {
			args = append(args, option, v)
		}
	}
	if len(m.headers) > 0 {
		args = append(args, "HEADERS")
	}
	for _, h := range m.headers {
		args = append(args, h.name, *h.text)
	}
	err := e.r.Do(ctx, args...).Err()
	if err != nil && err.Error() == "ERR too large" {
		return errors.ErrUnsupported
	}
	return err
}

// job is a job as JOB.TAKE returns it.
type job struct {
	mid, token, body string
	attempt, lock    int64
	enqueued         int64 // Unix milliseconds
	headers          map[string]any
}

// lease takes the next job, which stays locked.
func lease(ctx context.Context, r *redis.Client, queue string, options ...any) (j job, ok bool, err error) {
	all, err := r.Do(ctx, append([]any{"JOB.TAKE", queue}, options...)...).Slice()
	if err != nil || len(all) == 0 {
		return j, false, err
	}
	m := all[0].(map[any]any)
	j = job{m["mid"].(string), m["token"].(string), m["body"].(string), m["attempt"].(int64), m["lock"].(int64), m["enqueued"].(int64), map[string]any{}}
	for name, v := range m["headers"].(map[any]any) {
		j.headers[name.(string)] = v
	}
	return j, true, nil
}

func (e *jobsEnd) take(ctx context.Context, queue string) (m message, ok bool, err error) {
	j, ok, err := lease(ctx, e.r, queue)
	if err != nil || !ok {
		return m, false, err
	}
	m = message{id: j.mid, again: j.attempt > 1, body: []byte(j.body), properties: map[string]string{}}
	for name, v := range j.headers {
		if !kept(name) {
			m.headers = append(m.headers, header{name: name, value: v})
		}
	}
	return m, true, e.r.Do(ctx, "JOB.DONE", queue, j.mid, j.token).Err()
}

func (e *jobsEnd) giveBack(ctx context.Context, queue string) error {
	j, ok, err := lease(ctx, e.r, queue)
	if err != nil || !ok {
		return fmt.Errorf("nothing to give back: %v", err)
	}
	return e.r.Do(ctx, "JOB.RETRY", queue, j.mid, j.token).Err()
}

type listsEnd struct{ r *redis.Client }

func dialLists(_ context.Context, b *brokertest.Broker) (endpoint, error) {
	return &listsEnd{dialRedis(b)}, nil
}

func (e *listsEnd) close() { e.r.Close() }

func (e *listsEnd) declare(context.Context, string, int) error { return errors.ErrUnsupported } // as with jobs

func (e *listsEnd) send(ctx context.Context, queue string, m message) error {
	if m.delayed > 0 || m.expires > 0 || m.properties["priority"] != "" {
		return errors.ErrUnsupported
	}
	return e.r.LPush(ctx, queue, m.body).Err()
}

func (e *listsEnd) take(ctx context.Context, queue string) (m message, ok bool, err error) {
	body, err := e.r.RPop(ctx, queue).Bytes()
	if errors.Is(err, redis.Nil) {
		return m, false, nil
	}
	return message{body: body, properties: map[string]string{}}, err == nil, err
}

func (e *listsEnd) giveBack(context.Context, string) error { return errors.ErrUnsupported }
