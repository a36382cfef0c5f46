package matrix

import (
	"context"
	"fmt"
	"slices"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// semaphoreTransaction is a client whose protocol has transactions.
type semaphoreTransaction interface {
	// replace releases a task and enqueues another one in one transaction.
	replace(ctx context.Context, key, old, task string, priority float64) error
}

// TestSemaphoreTransactions replaces a running task by one that is more urgent than the waiting
// task. The transaction is one change, so the waiting task never gets the place.
func TestSemaphoreTransactions(t *testing.T) {
	n := start(t)
	want := []string{"7 Acquired", "9 Acquired"}
	for name, end := range n.semaphoreEnds() {
		tx, ok := end.(semaphoreTransaction)
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			ctx, key := t.Context(), "replaced_"+name
			must(t, end.create(ctx, key, 1))
			n.bindEvents(t, key)
			must(t, end.enqueue(ctx, key, "7", 5))
			must(t, end.enqueue(ctx, key, "8", 1))
			must(t, tx.replace(ctx, key, "7", "9", 3))
			for task, status := range map[string]string{"7": "", "8": "WAIT", "9": "ACQUIRED"} {
				if got, err := end.status(ctx, key, task); err != nil || got != status {
					t.Errorf("task %s is %q, %v, want %q", task, got, err, status)
				}
			}
			if got := n.events(t, "amqp", key); !slices.Equal(got, want) {
				t.Errorf("events %q, want %q", got, want)
			}
		})
	}
}

func (e *amqpRequests) replace(ctx context.Context, key, old, task string, priority float64) error {
	ch, err := e.conn.Channel()
	if err != nil {
		return err
	}
	defer ch.Close()
	if err := ch.Tx(); err != nil {
		return err
	}
	for _, request := range []string{
		fmt.Sprintf(`{"op":"release","semaphore":%q,"task":%q}`, key, old),
		fmt.Sprintf(`{"op":"enqueue","semaphore":%q,"task":%q,"priority":%g}`, key, task, priority),
	} {
		if err := ch.PublishWithContext(ctx, "", "amq.semaphore", true, false, amqp.Publishing{Body: []byte(request)}); err != nil {
			return err
		}
	}
	return ch.TxCommit()
}

func (e *redisCommands) replace(ctx context.Context, key, old, task string, priority float64) error {
	_, err := e.r.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		tx.Do(ctx, "SEM.RELEASE", key, old)
		tx.Do(ctx, "SEM.ENQUEUE", key, task, priority)
		return nil
	})
	return err
}

func (e *sqlFunctions) replace(ctx context.Context, key, old, task string, priority float64) error {
	tx, err := e.conn.Begin(ctx)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "select semaphore.release($1, $2::bigint)", key, old); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "select semaphore.enqueue($1, $2::bigint, $3)", key, task, priority); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

func (e *etcdKeys) replace(ctx context.Context, key, old, task string, priority float64) error {
	path := "/semaphore/" + key + "/"
	_, err := e.c.Txn(ctx).Then(clientv3.OpDelete(path+old), clientv3.OpPut(path+task, fmt.Sprint(priority))).Commit()
	return err
}
