package rest

import (
	"net/http"
	"strings"

	"fiveways.dev/fiveways/internal/protocol"
)

// isAct reports whether a route is an administrative act. Routes for messages are not, even where
// RabbitMQ requires a tag.
func isAct(n Need, pattern string) bool {
	method, path, _ := strings.Cut(pattern, " ")
	switch {
	case n == Login || n == Anyone || method == http.MethodGet || method == http.MethodHead:
		return false
	case method == http.MethodPost && (strings.HasSuffix(path, "/get") || strings.HasSuffix(path, "/publish")):
		return false
	}
	return true
}

// witness records how a request was answered.
type witness struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *witness) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *witness) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *witness) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// record writes an administrative act into the audit log. A failed login is not an act; it is in
// the server's log.
func (a *API) record(w *witness, r *http.Request) {
	c := CallerOf(r.Context())
	if c.Name() == "" {
		return
	}
	act := protocol.Act{Protocol: "http", Who: c.Name(), What: r.Method, On: ShownPath(r), Request: c.ID, Refusal: c.refusal}
	if !c.Operator {
		act.From = c.Peer.String()
	}
	if act.Refusal == "" && (w.status == 0 || w.status >= http.StatusBadRequest) {
		act.Refusal = "the request failed" // a panic is in the log
	}
	a.audit.Record(act)
}

// Acts returns the recent administrative acts over all protocols, newest first.
func (a *API) Acts() []protocol.AuditLine { return a.audit.Recent() }
