package httpapi

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchmarkLook measures the cost of a request without the network: login, session, and a look at a
// task.
func BenchmarkLook(b *testing.B) {
	br, m := openSemaphores(b)
	a := New(br, Options{Semaphores: m})
	handler := NewServer(a, ServerOptions{}).Handler()
	request := func(method, path, body string) int {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.RemoteAddr, r.Host = "127.0.0.1:4000", "127.0.0.1"
		r.SetBasicAuth("guest", "guest")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code
	}
	request("PUT", k, "{}")
	request("PUT", k+"/tasks/1", `{"priority":1}`)
	b.ReportAllocs()
	for b.Loop() {
		if code := request("GET", k+"/tasks/1", ""); code != 200 {
			b.Fatal(code)
		}
	}
}
