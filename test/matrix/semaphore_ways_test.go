package matrix

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"fiveways.dev/fiveways/semaphore"
	"fiveways.dev/fiveways/test/brokertest"
)

var (
	goSemaphores    = semaphoreWay{"go", dialGoSemaphores}
	redisSemaphores = semaphoreWay{"redis", dialRedisSemaphores}
	sqlSemaphores   = semaphoreWay{"sql", dialSQLSemaphores}
	etcdSemaphores  = semaphoreWay{"etcd", dialEtcdSemaphores}
	httpSemaphores  = semaphoreWay{"http", dialHTTPSemaphores}
)

// goEnd uses package semaphore.
type goEnd struct{ m *semaphore.Manager }

func dialGoSemaphores(_ context.Context, b *brokertest.Broker) (semaphoreEnd, error) {
	m, err := semaphore.Dial("redis://" + b.RedisAddr())
	return &goEnd{m}, err
}

func (e *goEnd) close() { e.m.Close() }

func (e *goEnd) create(ctx context.Context, key string, active int) error {
	_, err := e.m.GetOrCreate(ctx, key, semaphore.Settings{Active: &active})
	return err
}

func (e *goEnd) enqueue(ctx context.Context, key, task string, priority float64) error {
	_, err := e.m.Semaphore(key).Enqueue(ctx, task, priority)
	return err
}

func (e *goEnd) release(ctx context.Context, key, task string) error {
	_, err := e.m.Semaphore(key).Release(ctx, task)
	return err
}

func (e *goEnd) status(ctx context.Context, key, task string) (string, error) {
	t, err := e.m.Semaphore(key).Status(ctx, task)
	return string(t.Status), err
}

func (e *goEnd) watch(ctx context.Context, key string) (func() (string, error), func(), error) {
	ctx, cancel := context.WithCancel(ctx)
	events, err := e.m.Semaphore(key).Watch(ctx, semaphore.WatchOptions{})
	return func() (string, error) {
		event, ok := <-events
		if !ok {
			return "", errors.New("the watch ended")
		}
		return event.Task + " " + string(event.Kind), nil
	}, cancel, err
}

// redisCommands uses the commands SEM.….
type redisCommands struct{ r *redis.Client }

func dialRedisSemaphores(_ context.Context, b *brokertest.Broker) (semaphoreEnd, error) {
	return &redisCommands{dialRedis(b)}, nil
}

func (e *redisCommands) close() { e.r.Close() }

func (e *redisCommands) create(ctx context.Context, key string, active int) error {
	return e.r.Do(ctx, "SEM.CREATE", key, "ACTIVE", active).Err()
}

func (e *redisCommands) enqueue(ctx context.Context, key, task string, priority float64) error {
	return e.r.Do(ctx, "SEM.ENQUEUE", key, task, priority).Err()
}

func (e *redisCommands) release(ctx context.Context, key, task string) error {
	return e.r.Do(ctx, "SEM.RELEASE", key, task).Err()
}

func (e *redisCommands) status(ctx context.Context, key, task string) (string, error) {
	tasks, err := e.r.Do(ctx, "SEM.STATUS", key, task).Slice()
	if err != nil || len(tasks) != 1 {
		return "", fmt.Errorf("%v: %v", tasks, err)
	}
	if tasks[0] == nil {
		return "", nil
	}
	return tasks[0].(string), nil
}

// sqlFunctions uses the functions of the schema semaphore.
type sqlFunctions struct{ conn *pgx.Conn }

func dialSQLSemaphores(ctx context.Context, b *brokertest.Broker) (semaphoreEnd, error) {
	end, err := dialSQL(ctx, b)
	if err != nil {
		return nil, err
	}
	return &sqlFunctions{end.(*sqlEnd).conn}, nil
}

func (e *sqlFunctions) close() { e.conn.Close(context.Background()) }

func (e *sqlFunctions) create(ctx context.Context, key string, active int) error {
	_, err := e.conn.Exec(ctx, "select semaphore.get_or_create($1, $2)", key, active)
	return err
}

func (e *sqlFunctions) enqueue(ctx context.Context, key, task string, priority float64) error {
	_, err := e.conn.Exec(ctx, "select semaphore.enqueue($1, $2::bigint, $3)", key, task, priority)
	return err
}

func (e *sqlFunctions) release(ctx context.Context, key, task string) error {
	_, err := e.conn.Exec(ctx, "select semaphore.release($1, $2::bigint)", key, task)
	return err
}

func (e *sqlFunctions) status(ctx context.Context, key, task string) (string, error) {
	var status *string
	if err := e.conn.QueryRow(ctx, "select semaphore.status($1, $2::bigint)::text", key, task).Scan(&status); err != nil || status == nil {
		return "", err
	}
	return *status, nil
}

// etcdKeys uses the keys below /semaphore/.
type etcdKeys struct{ c *clientv3.Client }

func dialEtcdSemaphores(_ context.Context, b *brokertest.Broker) (semaphoreEnd, error) {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{b.EtcdAddr()}, Logger: zap.NewNop()})
	return &etcdKeys{c}, err
}

func (e *etcdKeys) close() { e.c.Close() }

func (e *etcdKeys) create(ctx context.Context, key string, active int) error {
	_, err := e.c.Put(ctx, "/semaphore/"+key, fmt.Sprintf(`{"active":%d}`, active))
	return err
}

func (e *etcdKeys) enqueue(ctx context.Context, key, task string, priority float64) error {
	_, err := e.c.Put(ctx, "/semaphore/"+key+"/"+task, fmt.Sprint(priority))
	return err
}

func (e *etcdKeys) release(ctx context.Context, key, task string) error {
	_, err := e.c.Delete(ctx, "/semaphore/"+key+"/"+task)
	return err
}

func (e *etcdKeys) status(ctx context.Context, key, task string) (string, error) {
	got, err := e.c.Get(ctx, "/semaphore/"+key+"/"+task)
	if err != nil || got.Count == 0 {
		return "", err
	}
	return statusIn(got.Kvs[0].Value)
}

// statusIn returns the status in the JSON of a task.
func statusIn(text []byte) (string, error) {
	var t struct{ Status string }
	err := json.Unmarshal(text, &t)
	return t.Status, err
}

// watch reports the puts that changed the status of a task.
func (e *etcdKeys) watch(ctx context.Context, key string) (func() (string, error), func(), error) {
	ctx, cancel := context.WithCancel(ctx)
	prefix := "/semaphore/" + key + "/"
	watch := e.c.Watch(ctx, prefix, clientv3.WithPrefix(), clientv3.WithFilterDelete(), clientv3.WithCreatedNotify())
	if created := <-watch; !created.Created {
		cancel()
		return nil, nil, fmt.Errorf("no watch: %v", created.Err())
	}
	var told []string
	last := map[string]string{}
	return func() (string, error) {
		for len(told) == 0 {
			got, ok := <-watch
			if err := got.Err(); !ok || err != nil {
				return "", fmt.Errorf("the watch ended: %v", err)
			}
			for _, event := range got.Events {
				task := strings.TrimPrefix(string(event.Kv.Key), prefix)
				status, err := statusIn(event.Kv.Value)
				if err != nil {
					return "", err
				}
				if status != "WAIT" && status != last[task] {
					told = append(told, task+" "+status)
				}
				last[task] = status
			}
		}
		next := told[0]
		told = told[1:]
		return next, nil
	}, cancel, nil
}

// httpPaths uses the paths below /api/semaphores.
type httpPaths struct{ root string }

func dialHTTPSemaphores(_ context.Context, b *brokertest.Broker) (semaphoreEnd, error) {
	return &httpPaths{"http://guest:guest@" + b.HTTPAddr() + "/api/semaphores/%2F/"}, nil
}

func (e *httpPaths) close() {}

// do sends a request. A refusal other than 404 is an error.
func (e *httpPaths) do(ctx context.Context, method, path, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, e.root+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	w, err := http.DefaultClient.Do(r)
	if err == nil && w.StatusCode >= 400 && w.StatusCode != http.StatusNotFound {
		defer w.Body.Close()
		said, _ := io.ReadAll(w.Body)
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, w.Status, said)
	}
	return w, err
}

// must is do for resources that must exist.
func (e *httpPaths) must(ctx context.Context, method, path, body string) error {
	w, err := e.do(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer w.Body.Close()
	if w.StatusCode == http.StatusNotFound {
		return fmt.Errorf("%s %s: %s", method, path, w.Status)
	}
	return nil
}

func (e *httpPaths) create(ctx context.Context, key string, active int) error {
	return e.must(ctx, "PUT", key, fmt.Sprintf(`{"active":%d}`, active))
}

func (e *httpPaths) enqueue(ctx context.Context, key, task string, priority float64) error {
	return e.must(ctx, "PUT", key+"/tasks/"+task, fmt.Sprintf(`{"priority":%g}`, priority))
}

func (e *httpPaths) release(ctx context.Context, key, task string) error {
	return e.must(ctx, "DELETE", key+"/tasks/"+task, "")
}

func (e *httpPaths) status(ctx context.Context, key, task string) (string, error) {
	w, err := e.do(ctx, "GET", key+"/tasks/"+task, "")
	if err != nil {
		return "", err
	}
	defer w.Body.Close()
	if w.StatusCode == http.StatusNotFound {
		return "", nil
	}
	text, err := io.ReadAll(w.Body)
	if err != nil {
		return "", err
	}
	return statusIn(text)
}

// watch reads server-sent events.
func (e *httpPaths) watch(ctx context.Context, key string) (func() (string, error), func(), error) {
	w, err := e.do(ctx, "GET", key+"/events", "")
	if err != nil {
		return nil, nil, err
	}
	lines := bufio.NewScanner(w.Body)
	next := func() (string, error) {
		for lines.Scan() {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			var event struct{ Task, Event string }
			if err := json.Unmarshal([]byte(data), &event); ok && err == nil && event.Event != "" {
				return event.Task + " " + event.Event, nil
			}
		}
		return "", fmt.Errorf("the stream ended: %v", lines.Err())
	}
	for lines.Scan() { // skips the state at its beginning
		if lines.Text() == "event: open" {
			return next, func() { w.Body.Close() }, nil
		}
	}
	return nil, nil, fmt.Errorf("no stream: %v", lines.Err())
}
