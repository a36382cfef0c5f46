package semaphore

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// redisServer is Fiveways over the Redis protocol.
type redisServer struct {
	options *redis.Options
	key     string
	admin   *redis.Client
}

func openRedis(ctx context.Context, o Options, key string) (server, string, error) {
	options, err := redis.ParseURL(o.URL)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	options.DisableIdentity, options.MaxRetries = true, -1
	s := &redisServer{options: options, key: key, admin: redis.NewClient(options)}
	info, err := s.admin.Info(ctx, "server").Result()
	if err != nil {
		s.close()
		return nil, "", err
	}
	version := "unknown"
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(line, "fiveways_version:"); ok {
			version = strings.TrimSpace(v)
		}
	}
	return s, "Fiveways " + version + " over the Redis protocol", nil
}

func (s *redisServer) prepare(ctx context.Context, active, tryRelease int) error {
	return s.admin.Do(ctx, "SEM.CREATE", s.key, "ACTIVE", active, "TRYRELEASE", tryRelease).Err()
}

func (s *redisServer) fill(ctx context.Context, tasks int) error {
	return chunks(tasks, func(first, behind int) error {
		request := []any{"SEM.ENQUEUE", s.key}
		for task := first; task < behind; task++ {
			request = append(request, task, priorityOf(task))
		}
		return s.admin.Do(ctx, request...).Err()
	})
}

func (s *redisServer) runs(ctx context.Context, task int) (bool, error) {
	statuses, err := s.admin.Do(ctx, "SEM.STATUS", s.key, task).StringSlice()
	return len(statuses) == 1 && statuses[0] == acquiredStatus, err
}

func (s *redisServer) connect(ctx context.Context) (client, error) {
	c := &redisClient{redis.NewClient(s.options), s.key}
	return c, c.Ping(ctx).Err()
}

// redisClient uses one connection, since it sends one command at a time.
type redisClient struct {
	*redis.Client
	key string
}

func (c *redisClient) release(task int) error {
	return c.Do(context.Background(), "SEM.RELEASE", c.key, task).Err()
}

func (c *redisClient) enqueue(task int) error {
	return c.Do(context.Background(), "SEM.ENQUEUE", c.key, task, priorityOf(task)).Err()
}

func (c *redisClient) interrupt() { c.Close() } //nolint:errcheck // it is not used any more

// watch subscribes to the events, as any Redis client can.
func (s *redisServer) watch(ctx context.Context, acquired func(), failed func(error)) error {
	heard := s.admin.Subscribe(ctx, "semaphore.events")
	if _, err := heard.Receive(ctx); err != nil {
		return err
	}
	go func() {
		defer heard.Close()
		for {
			m, err := heard.ReceiveMessage(ctx)
			if err != nil {
				if ctx.Err() == nil {
					failed(err)
				}
				return
			}
			var e struct{ Key, Event string }
			if err := json.Unmarshal([]byte(m.Payload), &e); err != nil {
				failed(err)
				return
			}
			if e.Key == s.key && e.Event == acquiredEvent {
				acquired()
			}
		}
	}()
	return nil
}

func (s *redisServer) remove(ctx context.Context) error {
	return s.admin.Do(ctx, "SEM.DEL", s.key).Err()
}

func (s *redisServer) close() { s.admin.Close() } //nolint:errcheck // the run is over
