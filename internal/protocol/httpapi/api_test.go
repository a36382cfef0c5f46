package httpapi

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fiveways/internal/broker"
	"fiveways/internal/storage/vfs"
)

// step is one request and what must come of it.
type step struct {
	request string // "PUT /api/users/a {...}"
	status  int
	want    string // the answer holds this text
}

func openBroker(t *testing.T) *broker.Broker {
	t.Helper()
	b, err := broker.Open(vfs.NewMem(), "data", broker.Options{Logger: slog.New(slog.DiscardHandler), DiskFreeLimit: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func play(t *testing.T, h http.Handler, steps []step) {
	t.Helper()
	for _, s := range steps {
		method, rest, _ := strings.Cut(s.request, " ")
		target, body, _ := strings.Cut(rest, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, target, strings.NewReader(body)))
		got, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		if w.Code != s.status || !strings.Contains(string(got), s.want) {
			t.Errorf("%s:\n got %d %s\nwant %d with %s", s.request, w.Code, got, s.status, s.want)
		}
		if len(got) > 0 && !json.Valid(got) {
			t.Errorf("%s: the answer is no JSON: %s", s.request, got)
		}
	}
}
