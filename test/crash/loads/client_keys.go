package loads

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"fiveways.dev/fiveways/test/crash/history"
)

const keyPairs = 3

// keyClient is a program that works with ordinary keys. It exists for all rounds.
type keyClient struct {
	history *history.Keys
	rng     *rand.Rand
	pace    *pace
	n       int // its number
	seq     int // of the last value it wrote
	etcd    *clientv3.Client
	seen    [keyPairs][2]string // the values it last saw
}

func dialEtcd(addr string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: []string{addr}, Logger: zap.NewNop()})
}

// work sends requests in a loop until there is an error or ctx ends.
func (c *keyClient) work(ctx context.Context, addr string) error {
	var err error
	if c.etcd, err = dialEtcd(addr); err != nil {
		return err
	}
	defer c.etcd.Close()
	if _, err := c.etcd.Get(ctx, "served"); err != nil {
		return err
	}
	for {
		c.pace.wait()
		asked := c.compose()
		called := c.history.Now()
		told, err := c.ask(ctx, asked)
		if err != nil {
			told = history.KeyTold{Unknown: true}
		}
		if err == nil || asked.Act != history.KeyRead {
			c.history.Add(c.n, asked, called, told)
		}
		if err != nil {
			return err
		}
		c.learn(asked, told)
	}
}

func (c *keyClient) compose() history.KeyAsked {
	c.seq++
	asked := history.KeyAsked{Pair: c.rng.IntN(keyPairs), Key: c.rng.IntN(2), Value: fmt.Sprintf("%d-%d", c.n, c.seq)}
	switch n := c.rng.IntN(10); {
	case n < 3:
		asked.Act = history.KeyPut
	case n < 4:
		asked.Act, asked.Value = history.KeyDelete, ""
	case n < 6:
		asked.Act, asked.Value = history.KeyRead, ""
	case n < 8:
		asked.Act = history.KeySwap
	default:
		asked.Act = history.KeySwapBoth
	}
	if asked.Act == history.KeySwap || asked.Act == history.KeySwapBoth {
		asked.Was = c.seen[asked.Pair][asked.Key]
	}
	return asked
}

// learn remembers the values in an answer, so that enough conditions of later requests hold.
func (c *keyClient) learn(asked history.KeyAsked, told history.KeyTold) {
	pair := &c.seen[asked.Pair]
	switch {
	case asked.Act == history.KeyRead:
		*pair = told.Values
	case asked.Act == history.KeyPut || asked.Act == history.KeyDelete || told.Held:
		pair[asked.Key] = asked.Value
	default:
		pair[asked.Key] = told.Values[asked.Key]
	}
}

func keyPrefix(pair int) string    { return fmt.Sprintf("crash/%d/", pair) }
func keyName(pair, key int) string { return fmt.Sprintf("%s%d", keyPrefix(pair), key) }
func is(key, value string) clientv3.Cmp {
	if value == "" {
		return clientv3.Compare(clientv3.Version(key), "=", 0)
	}
	return clientv3.Compare(clientv3.Value(key), "=", value)
}

func (c *keyClient) ask(ctx context.Context, asked history.KeyAsked) (told history.KeyTold, err error) {
	key := keyName(asked.Pair, asked.Key)
	switch asked.Act {
	case history.KeyPut:
		r, err := c.etcd.Put(ctx, key, asked.Value)
		if err != nil {
			return told, err
		}
		return history.KeyTold{Held: true, Rev: r.Header.Revision}, nil
	case history.KeyDelete:
		r, err := c.etcd.Delete(ctx, key)
		if err != nil {
			return told, err
		}
		return history.KeyTold{Held: r.Deleted == 1, Rev: r.Header.Revision}, nil
	case history.KeyRead:
		r, err := c.etcd.Get(ctx, keyPrefix(asked.Pair), clientv3.WithPrefix())
		if err != nil {
			return told, err
		}
		return history.KeyTold{Held: true, Values: pairOf(r, asked.Pair), Rev: r.Header.Revision}, nil
	}
	puts := []clientv3.Op{clientv3.OpPut(key, asked.Value)}
	if asked.Act == history.KeySwapBoth {
		puts = append(puts, clientv3.OpPut(keyName(asked.Pair, 1-asked.Key), asked.Value))
	}
	r, err := c.etcd.Txn(ctx).If(is(key, asked.Was)).Then(puts...).Else(clientv3.OpGet(keyPrefix(asked.Pair), clientv3.WithPrefix())).Commit()
	if err != nil {
		return told, err
	}
	told = history.KeyTold{Held: r.Succeeded, Rev: r.Header.Revision}
	if !r.Succeeded {
		told.Values = pairOf((*clientv3.GetResponse)(r.Responses[0].GetResponseRange()), asked.Pair)
	}
	return told, nil
}

func pairOf(r *clientv3.GetResponse, pair int) (values [2]string) {
	for _, kv := range r.Kvs {
		values[strings.TrimPrefix(string(kv.Key), keyPrefix(pair))[0]-'0'] = string(kv.Value)
	}
	return values
}

// keyWatcher watches all keys through all rounds.
type keyWatcher struct {
	next   int64 // the first revision that it has not been told of; 0: it has not begun
	events []history.KeyEvent
}

// begin starts the watch with the next revision, unless it has already started.
func (w *keyWatcher) begin(ctx context.Context, addr string) error {
	if w.next != 0 {
		return nil
	}
	etcd, err := dialEtcd(addr)
	if err != nil {
		return err
	}
	defer etcd.Close()
	now, err := etcd.Get(ctx, "served")
	if err == nil {
		w.next = now.Header.Revision + 1
	}
	return err
}

// follow resumes the watch until it breaks or ctx ends. When it begins, the store's revision is at
// least the newest that the watch has seen.
func (w *keyWatcher) follow(ctx context.Context, addr string) error {
	etcd, err := dialEtcd(addr)
	if err != nil {
		return err
	}
	defer etcd.Close()
	for r := range etcd.Watch(ctx, "crash/", clientv3.WithPrefix(), clientv3.WithRev(w.next)) {
		if r.Err() != nil {
			return r.Err()
		}
		w.note(r)
	}
	return nil
}

// note records events. All events of a transaction come in one answer.
func (w *keyWatcher) note(r clientv3.WatchResponse) {
	for _, e := range r.Events {
		var pair, key int
		fmt.Sscanf(string(e.Kv.Key), "crash/%d/%d", &pair, &key) //nolint:errcheck // events without a request are found later
		w.events = append(w.events, history.KeyEvent{Pair: pair, Key: key, Value: string(e.Kv.Value), Rev: e.Kv.ModRevision})
		w.next = e.Kv.ModRevision + 1
	}
}

// until follows the watch until it has seen a revision.
func (w *keyWatcher) until(ctx context.Context, addr string, rev int64) error {
	etcd, err := dialEtcd(addr)
	if err != nil {
		return err
	}
	defer etcd.Close()
	for r := range etcd.Watch(ctx, "crash/", clientv3.WithPrefix(), clientv3.WithRev(w.next)) {
		if w.note(r); w.next > rev {
			return nil
		}
	}
	return fmt.Errorf("the watch told of revisions before %d, not of %d", w.next, rev)
}
