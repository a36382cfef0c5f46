package semaphore

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/internal/core/glob"
	"fiveways.dev/fiveways/internal/respclient"
)

// callTimeout is how long an answer may take. The broker answers when the change is on disk, and
// the disk may be busy.
const callTimeout = 30 * time.Second

// Dial returns a Manager for a broker at redis://user:password@host:port, or rediss:// for TLS. The
// path is a virtual host; no path and /0 mean the virtual host "/". The nodes of a cluster are
// hosts separated by commas: redis://n1:6380,n2:6380,n3:6380. Connections are established when they
// are needed, and established again after a failure: if the broker cannot be reached, the call that
// needs it returns an error. Concurrent requests share one pipeline. The events for Acquire come on
// one more connection, and each Watch has a connection of its own.
func Dial(address string) (*Manager, error) {
	o, err := respclient.Options(address)
	if err != nil {
		return nil, fmt.Errorf("%w: the address of the broker: %w", ErrInvalid, err)
	}
	o.ReadTimeout = callTimeout
	c := &client{address: address, calls: redis.NewClient(o)}
	c.closed, c.close = context.WithCancel(context.Background())
	c.pipe.Client = c.calls
	c.tasks = newStream(c.closed, c.connect)
	return New(c), nil
}

// client is a Backend over the Redis protocol.
type client struct {
	address string
	calls   *redis.Client
	pipe    respclient.Pipeline
	tasks   *stream // watches of tasks

	closed context.Context // canceled when Close begins
	close  context.CancelFunc
}

func (c *client) connect(ctx context.Context) (*respclient.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return respclient.Connect(limited, c.address)
}

func (c *client) Close() error {
	c.close()
	err := c.calls.Close()
	c.tasks.busy.Wait()
	return err
}

// do executes one command, in a pipeline with concurrent ones.
func (c *client) do(ctx context.Context, args ...any) (*redis.Cmd, error) {
	cmd := redis.NewCmd(ctx, args...)
	if err := c.pipe.Do(ctx, cmd); err != nil {
		return nil, c.failed(err)
	}
	if err := cmd.Err(); err != nil {
		return nil, c.failed(err)
	}
	return cmd, nil
}

// refusals maps the prefixes of the broker's error replies to the errors of this package.
var refusals = []struct {
	begins string
	means  error
}{
	{"NOSEM ", ErrNotFound},
	{"NOTEMPTY ", ErrNotEmpty},
	{"NOPERM ", ErrDenied},
	{"OOM ", ErrNoRoom},
	{"MISCONF ", ErrNoRoom},
	{"ERR the order cannot change", ErrOrder},
	{"ERR invalid ", ErrInvalid},
}

// failed converts an error to the one that the caller gets.
func (c *client) failed(err error) error {
	if c.closed.Err() != nil {
		return ErrClosed
	}
	return meaning(err)
}

func meaning(err error) error {
	if !respclient.IsReply(err) {
		return fmt.Errorf("semaphore: cannot reach the broker: %w", err)
	}
	for _, r := range refusals {
		if strings.HasPrefix(err.Error(), r.begins) {
			return fmt.Errorf("%w (%w)", r.means, err)
		}
	}
	return fmt.Errorf("semaphore: the broker: %w", err)
}

func notUnderstood(command string, v any) error {
	return fmt.Errorf("semaphore: unexpected answer to %s: %v", command, v)
}

func settingsArgs(args []any, s Settings) []any {
	if s.Active != nil {
		args = append(args, "ACTIVE", *s.Active)
	}
	if s.TryRelease != nil {
		args = append(args, "TRYRELEASE", *s.TryRelease)
	}
	if s.Ascending != nil {
		order := "DESC"
		if *s.Ascending {
			order = "ASC"
		}
		args = append(args, "ORDER", order)
	}
	if s.Lease != nil {
		args = append(args, "LEASE", respclient.Milliseconds(*s.Lease))
	}
	return args
}

func (c *client) Create(ctx context.Context, key string, s Settings) (created bool, err error) {
	return c.yes(ctx, settingsArgs([]any{"SEM.CREATE", key}, s)...)
}

func (c *client) Update(ctx context.Context, key string, s Settings) error {
	_, err := c.do(ctx, settingsArgs([]any{"SEM.SET", key}, s)...)
	return err
}

func (c *client) Delete(ctx context.Context, key string, ifEmpty bool) (deleted bool, err error) {
	args := []any{"SEM.DEL", key}
	if ifEmpty {
		args = append(args, "IFEMPTY")
	}
	return c.yes(ctx, args...)
}

// yes executes a command that is answered with 1 or 0.
func (c *client) yes(ctx context.Context, args ...any) (bool, error) {
	cmd, err := c.do(ctx, args...)
	if err != nil {
		return false, err
	}
	n, err := cmd.Int()
	return n > 0, err
}

func (c *client) Info(ctx context.Context, key string) (Info, error) {
	cmd, err := c.do(ctx, "SEM.INFO", key)
	if err != nil {
		return Info{}, err
	}
	return infoOf(respclient.FieldsOf(cmd.Val())), nil
}

func infoOf(f respclient.Fields) Info {
	return Info{
		Key: f.Text("key"), Active: int(f.Number("active")), TryRelease: int(f.Number("try_release")), Ascending: f.Text("order") == "asc",
		Lease: f.Duration("lease"), Waiting: int(f.Number("waiting")), Acquired: int(f.Number("acquired")), Asked: int(f.Number("try_release_asked")),
	}
}

// page parses an answer of two elements: where the next page begins, and a list.
func page(command string, v any) (next any, list []any, err error) {
	two, ok := v.([]any)
	if !ok || len(two) != 2 {
		return nil, nil, notUnderstood(command, v)
	}
	list, _ = two[1].([]any)
	return two[0], list, nil
}

func (c *client) List(ctx context.Context, pattern, after string) (infos []Info, next string, err error) {
	args := []any{"SEM.LIST", "COUNT", 1000}
	if pattern != "" {
		args = append(args, "MATCH", pattern)
	}
	if after != "" {
		args = append(args, "AFTER", after)
	}
	cmd, err := c.do(ctx, args...)
	if err != nil {
		return nil, "", err
	}
	from, list, err := page("SEM.LIST", cmd.Val())
	for _, v := range list {
		infos = append(infos, infoOf(respclient.FieldsOf(v)))
	}
	return infos, respclient.Text(from), err
}

func (c *client) Enqueue(ctx context.Context, key string, entries []Entry) ([]Status, error) {
	var cmds []*redis.Cmd
	for rest := entries; len(rest) > 0; { // a command has one lease for all its tasks
		n := 1
		for n < len(rest) && rest[n].Lease == rest[0].Lease {
			n++
		}
		cmds = append(cmds, redis.NewCmd(ctx, enqueueArgs(key, rest[:n])...))
		rest = rest[n:]
	}
	if err := c.pipe.Do(ctx, cmds...); err != nil {
		return nil, c.failed(err)
	}
	statuses := make([]Status, 0, len(entries))
	for _, cmd := range cmds {
		list, err := cmd.Slice()
		if err != nil {
			return nil, c.failed(err)
		}
		for _, v := range list {
			statuses = append(statuses, Status(respclient.Text(v)))
		}
	}
	return statuses, nil
}

func enqueueArgs(key string, entries []Entry) []any {
	// LEASE is sent even if it is 0: otherwise a task of that name would be taken for the option.
	args := []any{"SEM.ENQUEUE", key, "LEASE", respclient.Milliseconds(entries[0].Lease)}
	for _, e := range entries {
		args = append(args, e.Task, e.Priority)
	}
	return args
}

func withTasks(tasks []string, args ...any) []any {
	for _, t := range tasks {
		args = append(args, t)
	}
	return args
}

func (c *client) Release(ctx context.Context, key string, tasks []string) (released int, err error) {
	cmd, err := c.do(ctx, withTasks(tasks, "SEM.RELEASE", key)...)
	if err != nil {
		return 0, err
	}
	return cmd.Int()
}

func (c *client) Renew(ctx context.Context, key string, tasks []string) ([]bool, error) {
	cmd, err := c.do(ctx, withTasks(tasks, "SEM.RENEW", key)...)
	if err != nil {
		return nil, err
	}
	return cmd.BoolSlice()
}

func (c *client) Look(ctx context.Context, key string, tasks []string) ([]Task, error) {
	cmd, err := c.do(ctx, withTasks(tasks, "SEM.STATUS", key, "DETAIL")...)
	if err != nil {
		return nil, err
	}
	list, ok := cmd.Val().([]any)
	if !ok || len(list) != len(tasks) {
		return nil, notUnderstood("SEM.STATUS", cmd.Val())
	}
	all := make([]Task, len(tasks))
	for i, v := range list {
		all[i] = taskOf(v)
		all[i].Task = tasks[i]
	}
	return all, nil
}

// taskOf parses the state of a task. A missing task has the zero value.
func taskOf(v any) Task {
	if v == nil {
		return Task{}
	}
	f := respclient.FieldsOf(v)
	return Task{
		Task: f.Text("task"), Status: Status(f.Text("status")), Priority: f.Float("priority"), Position: int(f.Number("position")),
		Enqueued: f.Time("enqueued"), Lease: f.Duration("lease"), Left: f.Duration("left"),
	}
}

func (c *client) Tasks(ctx context.Context, key string, from int, only []Status) (tasks []Task, next int, err error) {
	args := []any{"SEM.TASKS", key, "FROM", from, "COUNT", 1000}
	for _, s := range only {
		args = append(args, "STATUS", string(s))
	}
	cmd, err := c.do(ctx, args...)
	if err != nil {
		return nil, 0, err
	}
	to, list, err := page("SEM.TASKS", cmd.Val())
	for _, v := range list {
		tasks = append(tasks, taskOf(v))
	}
	n, _ := to.(int64)
	return tasks, int(n), err
}

func (c *client) Watch(ctx context.Context, o WatchOptions, fn func(Event)) (stop func(), err error) {
	if c.closed.Err() != nil {
		return nil, ErrClosed
	}
	o.Pattern = cmp.Or(o.Pattern, "*")
	closed, end := context.WithCancel(c.closed)
	s := newStream(closed, c.connect)
	if _, err := s.watch(ctx, watchName{o.Pattern, o.Task}, o.All, fn); err != nil {
		end()
		s.busy.Wait()
		return nil, err
	}
	return func() { end(); s.busy.Wait() }, nil
}

func (c *client) Follow(ctx context.Context, key, task string, fn func(Kind)) (stop func(), err error) {
	return c.tasks.watch(ctx, watchName{glob.Literal(key), task}, true, func(e Event) { fn(e.Kind) })
}

var _ Backend = (*client)(nil)
