package carmine

import (
	"context"
	_ "embed"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/worker"
)

//go:embed lua/common.lua
var commonLua string

//go:embed lua/enqueue.lua
var enqueueLua string

//go:embed lua/take.lua
var takeLua string

//go:embed lua/report.lua
var reportLua string

//go:embed lua/leave.lua
var leaveLua string

//go:embed lua/extend.lua
var extendLua string

//go:embed lua/status.lua
var statusLua string

//go:embed lua/page.lua
var pageLua string

// Every script takes all keys of a queue, and Options.Oldest as its first argument.
var (
	enqueueScript = redis.NewScript(commonLua + enqueueLua)
	takeScript    = redis.NewScript(commonLua + takeLua)
	reportScript  = redis.NewScript(commonLua + reportLua)
	leaveScript   = redis.NewScript(commonLua + leaveLua)
	extendScript  = redis.NewScript(commonLua + extendLua)
	statusScript  = redis.NewScript(commonLua + statusLua)
	pageScript    = redis.NewScript(commonLua + pageLua)
)

// keyNames are the suffixes of a queue's keys, in the order that the scripts expect.
var keyNames = []string{
	"messages", "messages-rq", "lock-times", "lock-times-rq", "udts", "locks", "lock-tokens", "backoffs", "nattempts", "done", "requeue",
	"mids-ready", "mid-circle", "ndry-runs", "isleep-a", "isleep-b",
}

const keyPrefix = "carmine:mq:"

func key(queue, name string) string { return keyPrefix + queue + ":" + name }

func keys(queue string) []string {
	all := make([]string, len(keyNames))
	for i, name := range keyNames {
		all[i] = key(queue, name)
	}
	return all
}

// run runs a script on a queue. Once started it ignores the end of ctx, because its effect would be
// unknown.
func (j *Jobs) run(ctx context.Context, s *redis.Script, queue string, args ...any) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	reply, err := s.Run(context.WithoutCancel(ctx), j.client, keys(queue), append([]any{j.oldest}, args...)...).Result()
	if err != nil && j.open() != nil {
		err = worker.ErrClosed
	}
	return reply, err
}
