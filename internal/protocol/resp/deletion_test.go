package resp

import (
	"testing"
	"testing/synctest"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/protocol/resp/resptest"
	"fiveways.dev/fiveways/internal/storage/faultlog"
	"fiveways.dev/fiveways/internal/storage/store"
)

// TestNothingThere checks that a reply saying that a queue does not exist is sent only after its
// deletion is durable.
func TestNothingThere(t *testing.T) {
	for _, ask := range [][]string{
		{"RPOP", "q"}, {"LLEN", "q"}, {"EXISTS", "q"}, {"TYPE", "q"}, {"LRANGE", "q", "0", "-1"}, {"XLEN", "q"}, {"JOB.TAKE", "1", "1000", "QUEUES", "q"},
		{"DEL", "q"},
	} {
		t.Run(ask[0], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log *faultlog.Log
				n := startNodeBy(resptest.StartInBubble, t, Options{}, broker.Options{DiskFreeLimit: -1, WrapLog: func(st *store.Store) shardlog.Log {
					log = faultlog.New(st)
					return log
				}})
				s, err := n.Broker.Operate("/")
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				c := n.Dial()
				c.Wants("RPUSH q a b", "2")
				log.Hold()
				go s.DeleteQueue("q", false, false) //nolint:errcheck // the log is slow
				synctest.Wait()
				answered := make(chan string, 1)
				go func() { answered <- c.Do(ask...) }()
				synctest.Wait()
				select {
				case reply := <-answered:
					t.Errorf("%s is answered before the deletion is durable", reply)
					answered <- reply
				default:
				}
				log.Release()
				t.Log(<-answered)
			})
		})
	}
}
