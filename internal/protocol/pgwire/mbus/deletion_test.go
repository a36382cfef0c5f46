package mbus

import (
	"testing"
	"testing/synctest"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/storage/faultlog"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// A session reports a queue as missing only after its deletion is durable.
func TestUnknownQueueWaits(t *testing.T) {
	for _, ask := range [][]any{{"consume", "q"}, {"post", "q", "a=>1"}, {"estimated_messages", "q"}} {
		t.Run(ask[0].(string), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log *faultlog.Log
				b := enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) {
					o.WrapLog = func(st *store.Store) shardlog.Log {
						log = faultlog.New(st)
						return log
					}
				})
				defer enginetest.Close(t, b)
				owner := enginetest.NewClient(t, b)
				defer owner.Close()
				owner.Queue("q", nil)
				c := newCaller(t, b, "guest")
				defer c.s.Close()
				log.Hold()
				go owner.DeleteQueue("q", false, false) //nolint:errcheck // the log is slow
				synctest.Wait()
				answered := make(chan error, 1)
				go func() {
					_, err := c.try(ask[0].(string), ask[1:]...)
					answered <- err
				}()
				synctest.Wait()
				select {
				case err := <-answered:
					t.Errorf("it is answered (%v) before the deletion is durable", err)
					answered <- nil
				default:
				}
				log.Release()
				<-answered
			})
		})
	}
}
