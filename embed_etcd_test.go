package fiveways_test

import (
	"context"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"fiveways.dev/fiveways"
)

// TestEtcdInProcess checks that an embedded broker serves the etcd API only if it is given an
// address.
func TestEtcdInProcess(t *testing.T) {
	for _, tc := range []struct {
		listen string
		served bool
	}{{"127.0.0.1:0", true}, {"", false}, {"off", false}} {
		b, err := fiveways.Start(fiveways.Options{Data: t.TempDir(), Etcd: tc.listen})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Stop(context.Background())
		url := b.EtcdURL()
		if served := url != ""; served != tc.served {
			t.Errorf("with %q it is served at %q", tc.listen, url)
		}
		if url == "" {
			continue
		}
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, Logger: zap.NewNop()})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Put(t.Context(), "a", "hello"); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Get(t.Context(), "a"); err != nil || string(got.Kvs[0].Value) != "hello" {
			t.Error(got, err)
		}
	}
}
