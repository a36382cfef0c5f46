package grpcwire

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	testpb "google.golang.org/grpc/interop/grpc_testing"
)

// Large answers share buffers, one after the other. Each client gets its own bytes, while other
// calls of the connection are answered or given up.
func TestLargeAnswers(t *testing.T) {
	_, addr := start(t, Options{}, &service{})
	c := dial(t, addr)
	ctx := within(t)
	var clients sync.WaitGroup
	for seed := range uint64(6) {
		clients.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 1))
			for range 40 {
				body := make([]byte, largeMessage/2+rng.IntN(10*largeMessage))
				for i := range body {
					body[i] = byte(rng.Uint32())
				}
				ask, giveUp := context.WithCancel(ctx)
				if rng.IntN(4) == 0 {
					go giveUp()
				}
				out, err := c.UnaryCall(ask, &testpb.SimpleRequest{Payload: &testpb.Payload{Body: body}})
				if err == nil && !bytes.Equal(out.Payload.Body, body) {
					t.Error("the answer of another call, or a part of it")
				} else if err != nil && ask.Err() == nil {
					t.Error(err)
				}
				giveUp()
			}
		})
	}
	clients.Wait()
}
