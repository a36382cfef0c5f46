package topology

import (
	"testing"
	"testing/synctest"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
	"fiveways.dev/fiveways/internal/storage/faultlog"
	"fiveways.dev/fiveways/internal/storage/store"
)

// A second DELETE is answered with 404 once the first is durable.
func TestSecondDelete(t *testing.T) {
	for name, path := range map[string]string{
		"queue": "/api/queues/%2F/q", "exchange": "/api/exchanges/%2F/x", "binding": "/api/bindings/%2F/e/x/q/q/~",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log *faultlog.Log
				b := resttest.OpenBroker(t, func(o *broker.Options) {
					o.WrapLog = func(st *store.Store) shardlog.Log {
						log = faultlog.New(st)
						return log
					}
				})
				a := rest.New(b, rest.Options{Log: resttest.Quiet})
				Register(a, Options{Node: &rest.Node{Name: "fiveways@here"}})
				resttest.Play(t, a, []resttest.Step{
					{`PUT /api/queues/%2F/q {"durable":true}`, 201, ""},
					{`PUT /api/exchanges/%2F/x {"type":"fanout","durable":true}`, 201, ""},
					{`POST /api/bindings/%2F/e/x/q/q {}`, 201, ""},
				})
				log.Hold()
				first, second := make(chan int, 1), make(chan int, 1)
				remove := func(status chan int) {
					code, _ := resttest.Request(t, a, "DELETE "+path)
					status <- code
				}
				go remove(first)
				synctest.Wait()
				go remove(second)
				synctest.Wait()
				if len(first)+len(second) > 0 {
					t.Errorf("%d and %d are answered before the deletion is durable", len(first), len(second))
				}
				log.Release()
				if one, two := <-first, <-second; one != 204 || two != 404 {
					t.Errorf("answers %d and %d", one, two)
				}
			})
		})
	}
}
