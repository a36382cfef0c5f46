package rest

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http/httptest"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// A request that is refused because its user was deleted meanwhile gets ErrUserDeleted, even if its
// session has not been evicted yet.
func TestRefusedSinceDeleted(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	t.Cleanup(func() { enginetest.Close(t, b) })
	if _, err := b.PutUser(catalog.UserSpec{Name: "reader", Password: "reader"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.SetPermission(catalog.Permission{User: "reader", VHost: "/", Read: ".*"}); err != nil {
		t.Fatal(err)
	}
	a := New(b, Options{Log: slog.New(slog.DiscardHandler)})
	r := httptest.NewRequest("GET", "/", nil)
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, &Caller{User: "reader", Peer: &net.TCPAddr{}}))
	err := a.In(r, "/", func(_ context.Context, s *broker.Session) error { return s.May("write", "semaphore", "k") })
	if !errors.Is(err, failure.ErrAccessRefused) {
		t.Errorf("what the user may not: %v", err)
	}
	err = a.In(r, "/", func(_ context.Context, s *broker.Session) error {
		if err := b.DeleteUser("reader"); err != nil {
			t.Fatal(err)
		}
		return s.May("read", "semaphore", "k")
	})
	if !errors.Is(err, failure.ErrUserDeleted) {
		t.Errorf("what the user might: %v", err)
	}
}
