package soak

import (
	"context"
	"net/http"
	"net/url"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"fiveways.dev/fiveways/test/brokertest"
)

// wipe deletes everything that loads and operators have created: users, virtual hosts, queues,
// semaphores, and keys with their history.
func wipe(ctx context.Context, b *brokertest.Broker) error {
	type named struct{ Name, Key string }
	var users, vhosts, queues []named
	var list struct{ Semaphores []named }
	for path, to := range map[string]any{
		"/api/users": &users, "/api/vhosts": &vhosts, "/api/queues/%2F": &queues, "/api/semaphores/%2F": &list,
	} {
		if err := ask(ctx, b.HTTPAddr(), http.MethodGet, path, nil, to); err != nil {
			return err
		}
	}
	var paths []string
	for _, u := range users {
		if u.Name != "guest" {
			paths = append(paths, "/api/users/"+url.PathEscape(u.Name))
		}
	}
	for _, v := range vhosts {
		if v.Name != "/" {
			paths = append(paths, "/api/vhosts/"+url.PathEscape(v.Name))
		}
	}
	for _, q := range queues {
		paths = append(paths, "/api/queues/%2F/"+url.PathEscape(q.Name))
	}
	for _, s := range list.Semaphores {
		paths = append(paths, "/api/semaphores/%2F/"+url.PathEscape(s.Key))
	}
	for _, path := range paths {
		if err := ask(ctx, b.HTTPAddr(), http.MethodDelete, path, nil, nil); err != nil {
			return err
		}
	}
	return wipeKeys(ctx, b.EtcdAddr())
}

// wipeKeys deletes all keys and their history.
func wipeKeys(ctx context.Context, addr string) error {
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer etcd.Close()
	gone, err := etcd.Delete(ctx, "crash/", clientv3.WithPrefix())
	if err != nil {
		return err
	}
	_, err = etcd.Compact(ctx, gone.Header.Revision)
	return err
}
