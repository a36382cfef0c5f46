package brokerapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestNoAnswer checks what is said of a broker that takes too long.
func TestNoAnswer(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request){
		"nothing": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"half": func(w http.ResponseWriter, r *http.Request) {
			w.Write([]byte(`{"a":`)) //nolint:errcheck // the client reads it
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(answer))
			defer s.Close()
			op := &Client{base: s.URL, transport: http.DefaultTransport}
			var out any
			err := op.DoWithin(t.Context(), 50*time.Millisecond, http.MethodGet, "/api/overview", nil, &out)
			if err == nil || !strings.Contains(err.Error(), "has not answered within 50ms") {
				t.Error(err)
			}
		})
	}
}
