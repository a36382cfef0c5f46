package duel

import (
	"context"
	"io"
	"log/slog"
	"net"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
	"fiveways.dev/fiveways/internal/protocol/resp"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Broker starts a broker with files in memory, which ends with the test, and returns the address of
// its Redis protocol. change may be nil.
func Broker(t testing.TB, change func(*broker.Options)) (addr string) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	o := broker.Options{Logger: log, DiskFreeLimit: -1, Shards: 3}
	if change != nil {
		change(&o)
	}
	lines := semaphores.New(semaphores.Options{Logger: log, Now: o.Now})
	o.StateMachines = protocoltest.Machines(lines, nil)
	b := enginetest.Open(t, vfs.NewMem(), func(to *broker.Options) { *to = o })
	jobs.Resume(b)
	if err := lines.Start(b); err != nil {
		t.Fatal(err)
	}
	server := resp.New(b, resp.Options{Shared: protocol.Shared{Semaphores: lines, Log: log, LoginDelay: -1}})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(ln) //nolint:errcheck // Drain ends it
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := server.Drain(ctx); err != nil {
			t.Error(err)
		}
		lines.Stop()
		enginetest.Close(t, b)
	})
	return ln.Addr().String()
}
