package fiveways_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways"
)

// TestRedisInProcess checks that an embedded broker serves the Redis protocol only if it is given
// an address.
func TestRedisInProcess(t *testing.T) {
	for _, tc := range []struct {
		listen string
		served bool
	}{{"127.0.0.1:0", true}, {"", false}, {"off", false}} {
		b, err := fiveways.Start(fiveways.Options{Data: t.TempDir(), Redis: tc.listen})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Stop(context.Background())
		url := b.RedisURL()
		if served := url != ""; served != tc.served {
			t.Errorf("with %q it is served at %q", tc.listen, url)
		}
		if url == "" {
			continue
		}
		o, err := redis.ParseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		r := redis.NewClient(o)
		defer r.Close()
		if err := r.LPush(t.Context(), "q", "hello").Err(); err != nil {
			t.Fatal(err)
		}
		if got, err := r.RPop(t.Context(), "q").Result(); got != "hello" || err != nil {
			t.Error(got, err)
		}
	}
}
