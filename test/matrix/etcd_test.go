package matrix

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"fiveways.dev/fiveways/test/brokertest"
)

var etcdProtocol = protocol{name: "etcd", plain: true, marks: true, blind: true, said: saidByEtcd, shown: shownByEtcd, dial: dialEtcd}

// saidByEtcd reduces a message to what the key of a put can express: the id and the sender.
func saidByEtcd(m message) message {
	properties := map[string]string{}
	if v := m.properties["app_id"]; v != "" {
		properties["app_id"] = v
	}
	m.properties, m.headers = properties, nil
	return m
}

// shownByEtcd reduces a message to what the key of a delivery has.
func shownByEtcd(m message) message { return message{id: m.id, body: m.body} }

type etcdEnd struct{ c *clientv3.Client }

func dialEtcd(_ context.Context, b *brokertest.Broker) (endpoint, error) {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{b.EtcdAddr()}, Logger: zap.NewNop()})
	return &etcdEnd{c}, err
}

func (e *etcdEnd) close() { e.c.Close() }

// segment escapes a name as a segment of a key.
func segment(name string) string { return strings.NewReplacer("/", "%2F", "%", "%25").Replace(name) }

func (e *etcdEnd) declare(ctx context.Context, queue string, priorities int) error {
	if priorities > 0 {
		return errors.ErrUnsupported
	}
	_, err := e.c.Put(ctx, "/q/"+segment(queue), "")
	return err
}

func (e *etcdEnd) send(ctx context.Context, queue string, m message) error {
	if m.delayed > 0 || m.expires > 0 || m.properties["priority"] != "" {
		return errors.ErrUnsupported
	}
	key := "/q/" + segment(queue) + "/p/"
	if client := m.properties["app_id"]; client != "" {
		key += client + "/"
	}
	id := m.id
	if id == "" { // a put needs a key
		id = fmt.Sprint("key-", keys.Add(1))
	}
	_, err := e.c.Put(ctx, key+id, string(m.body))
	return err
}

// keys numbers the keys that tests do not name.
var keys atomic.Int64

// consume opens the watch of a consumer of a queue. When it returns, the watch has the messages
// available to it.
func (e *etcdEnd) consume(ctx context.Context, queue, client string) (watch clientv3.WatchChan, prefix string, err error) {
	prefix = "/q/" + segment(queue) + "/c/" + client + "/"
	watch = e.c.Watch(ctx, prefix, clientv3.WithPrefix(), clientv3.WithFilterDelete(), clientv3.WithCreatedNotify())
	if created := <-watch; !created.Created {
		return nil, "", fmt.Errorf("no watch: %v", created.Err())
	}
	return watch, prefix, nil
}

// lend returns the next message of a queue, which a consumer with the node's limit of one holds
// until end is called. It returns false if none is available now.
func (e *etcdEnd) lend(ctx context.Context, queue string) (key string, value []byte, ok bool, end func() error, err error) {
	ctx, cancel := context.WithCancel(ctx)
	watch, prefix, err := e.consume(ctx, queue, "matrix")
	if err != nil {
		cancel()
		return "", nil, false, nil, err
	}
	end = func() error {
		defer cancel()
		_, err := e.c.Delete(ctx, strings.TrimSuffix(prefix, "/")) // canceling a watch has no answer, a delete has
		return err
	}
	held, err := e.c.Get(ctx, prefix, clientv3.WithPrefix())
	if err != nil || held.Count == 0 {
		return "", nil, false, end, err
	}
	told := <-watch
	if err := told.Err(); err != nil || len(told.Events) == 0 {
		return "", nil, false, end, fmt.Errorf("%d are held and the watch tells of none: %v", held.Count, err)
	}
	kv := told.Events[0].Kv
	if string(kv.Key) != string(held.Kvs[0].Key) || string(kv.Value) != string(held.Kvs[0].Value) {
		err = fmt.Errorf("the watch tells of %s, a get of %s", kv.Key, held.Kvs[0].Key)
	}
	return string(kv.Key), kv.Value, true, end, err
}

func (e *etcdEnd) take(ctx context.Context, queue string) (m message, ok bool, err error) {
	key, value, ok, end, err := e.lend(ctx, queue)
	if end == nil {
		return m, false, err
	}
	if ok && err == nil {
		parts := strings.SplitN(key, "/", 7)
		m = message{id: parts[6], body: value, properties: map[string]string{}}
		var deleted *clientv3.DeleteResponse
		if deleted, err = e.c.Delete(ctx, key); err == nil && deleted.Deleted != 1 {
			err = fmt.Errorf("%d deleted of %s", deleted.Deleted, key)
		}
	}
	return m, ok, errors.Join(err, end())
}

func (e *etcdEnd) giveBack(ctx context.Context, queue string) error {
	_, _, ok, end, err := e.lend(ctx, queue)
	if end == nil {
		return err
	}
	if !ok && err == nil {
		err = errors.New("nothing to give back")
	}
	return errors.Join(err, end())
}
