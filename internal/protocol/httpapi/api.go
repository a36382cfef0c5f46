package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"fiveways/internal/broker"
	"fiveways/internal/protocol"
	"fiveways/internal/semaphores"
)

// Options configure an API. A zero value means the default in brackets.
type Options struct {
	Semaphores *semaphores.Manager // of this broker; nil: there are none
	LoginDelay time.Duration       // before a refused login is answered [1 s]; negative: none
	Log        *slog.Logger        // [slog.Default()]
}

// API answers requests on one broker. As an http.Handler it answers those of who operates the broker, who may do everything; a Server serves it to
// others.
type API struct {
	broker     *broker.Broker
	semaphores *semaphores.Manager
	loginDelay time.Duration
	log        *slog.Logger
	mux        http.ServeMux
}

// maxBody bounds the body of a request.
const maxBody = 16 << 20

// New returns the API of b.
func New(b *broker.Broker, o Options) *API {
	a := &API{broker: b, semaphores: o.Semaphores, loginDelay: o.LoginDelay, log: o.Log}
	if a.log == nil {
		a.log = slog.Default()
	}
	if a.loginDelay == 0 {
		a.loginDelay = time.Second
	}
	a.users()
	a.vhosts()
	a.permissions()
	a.limitPaths()
	a.messages()
	a.semaphorePaths()
	a.taskPaths()
	a.eventPaths()
	a.profiles()
	return a
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.serve(w, r, &caller{operator: true})
}

// serve answers a request of a caller, who has not logged in yet.
func (a *API) serve(w http.ResponseWriter, r *http.Request, c *caller) {
	c.id, c.conn = requestID(r), http.NewResponseController(w)
	w.Header().Set("X-Request-Id", c.id)
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	defer a.survive(r)
	if !hideSlashes(r) {
		a.refuse(w, r, notFound("Not Found"))
		return
	}
	if h, pattern := a.mux.Handler(r); pattern == "" {
		a.unserved(w, r, h)
		return
	}
	a.mux.ServeHTTP(w, r)
}

// survive logs a panic of a handler, and has the connection closed: the client cannot tell what was done.
func (a *API) survive(r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p != http.ErrAbortHandler {
		a.log.Error("http: request failed", "request", callerOf(r.Context()).id, "method", r.Method, "path", shownPath(r), "panic", p, "stack", string(debug.Stack()))
	}
	panic(http.ErrAbortHandler)
}

// unserved refuses a request that no path takes with its method; h is what the multiplexer would answer.
func (a *API) unserved(w http.ResponseWriter, r *http.Request, h http.Handler) {
	if err := a.admit(r, login); err != nil { // nobody else learns which paths there are
		a.refuse(w, r, err)
		return
	}
	probe := &probe{header: http.Header{}}
	h.ServeHTTP(probe, r)
	if probe.status != http.StatusMethodNotAllowed {
		a.refuse(w, r, notFound("Not Found"))
		return
	}
	allow := probe.header.Get("Allow")
	w.Header().Set("Allow", allow)
	a.refuse(w, r, &refused{http.StatusMethodNotAllowed, Refusal{"method_not_allowed", "this path takes " + allow}})
}

// probe is a response of which only the head matters.
type probe struct {
	header http.Header
	status int
}

func (p *probe) Header() http.Header         { return p.header }
func (p *probe) WriteHeader(status int)      { p.status = status }
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }

// Refusal is the body of an answer that is an error.
type Refusal struct {
	Error  string `json:"error"`
	Reason string `json:"reason"`
}

// refused is a refusal with its status.
type refused struct {
	status int
	Refusal
}

func (r *refused) Error() string { return r.Reason }

func badRequest(reason string) error {
	return &refused{http.StatusBadRequest, Refusal{"bad_request", reason}}
}

func notFound(reason string) error {
	return &refused{http.StatusNotFound, Refusal{"Object Not Found", reason}}
}

// answer is what a request leads to: a status, and a value for the body or nil.
type answer struct {
	status int
	body   any
}

// open serves pattern by fn, for callers that have what it needs.
func (a *API) open(n need, pattern string, fn http.HandlerFunc) {
	a.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if err := a.admit(r, n); err != nil {
			a.refuse(w, r, err)
			return
		}
		fn(w, r)
	})
}

// handle serves pattern by fn, whose value is the answer. Changes that need more than a login go into the log.
func (a *API) handle(n need, pattern string, fn func(r *http.Request) (answer, error)) {
	a.open(n, pattern, func(w http.ResponseWriter, r *http.Request) {
		out, err := fn(r)
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		if n != login && r.Method != http.MethodGet && r.Method != http.MethodHead {
			c := callerOf(r.Context())
			a.log.Info("http: change", "request", c.id, "user", c.name(), "method", r.Method, "path", shownPath(r), "status", out.status)
		}
		write(w, out.status, out.body)
	})
}

// get serves a GET that answers with a value.
func (a *API) get(n need, path string, fn func(r *http.Request) (any, error)) {
	a.handle(n, "GET "+path, func(r *http.Request) (answer, error) {
		v, err := fn(r)
		return answer{http.StatusOK, v}, err
	})
}

// put serves a PUT with a body of type T that creates a thing or changes it.
func put[T any](a *API, n need, path string, fn func(r *http.Request, in T) (created bool, err error)) {
	a.handle(n, "PUT "+path, func(r *http.Request) (answer, error) {
		var in T
		if err := decode(r, &in); err != nil {
			return answer{}, err
		}
		created, err := fn(r, in)
		if created {
			return answer{status: http.StatusCreated}, err
		}
		return answer{status: http.StatusNoContent}, err
	})
}

// decode reads the body of a request.
func decode(r *http.Request, into any) error {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		return unreadable(err)
	}
	return nil
}

// unreadable is the refusal of a body that could not be read as what it should be.
func unreadable(err error) error {
	var tooLong *http.MaxBytesError
	if errors.As(err, &tooLong) {
		return err
	}
	return badRequest("the body is not the JSON object expected here: " + err.Error())
}

// delete serves a DELETE.
func (a *API) delete(n need, path string, fn func(r *http.Request) error) {
	a.handle(n, "DELETE "+path, func(r *http.Request) (answer, error) {
		return answer{status: http.StatusNoContent}, fn(r)
	})
}

func write(w http.ResponseWriter, status int, body any) {
	if body == nil {
		w.WriteHeader(status)
		return
	}
	b, err := json.Marshal(body)
	if err != nil {
		panic("httpapi: an answer cannot be encoded: " + err.Error()) // plain structs: cannot happen
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(b, '\n')) //nolint:errcheck // the client has gone
}

func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	re := refusalOf(err)
	switch c := callerOf(r.Context()); {
	case re.status == http.StatusInternalServerError:
		a.log.Error("http: request failed", "request", c.id, "user", c.name(), "method", r.Method, "path", shownPath(r), "err", err)
	case re.status == http.StatusForbidden || re == errNotManager || re == errNotAdministrator:
		a.log.Warn("http: refused", "request", c.id, "user", c.name(), "method", r.Method, "path", shownPath(r), "err", protocol.Clipped(re.Reason))
	case re.status == http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Basic realm="Fiveways", charset="UTF-8"`)
	}
	write(w, re.status, re.Refusal)
}

// statuses maps sentinels of the engine to statuses; what is not here is an internal error.
var statuses = []struct {
	err    error
	status int
	name   string
}{
	{broker.ErrVHostNotFound, http.StatusNotFound, "Object Not Found"},
	{broker.ErrQueueNotFound, http.StatusNotFound, "Object Not Found"},
	{broker.ErrExchangeNotFound, http.StatusNotFound, "Object Not Found"},
	{broker.ErrUserNotFound, http.StatusNotFound, "Object Not Found"},
	{broker.ErrVHostDeleted, http.StatusNotFound, "Object Not Found"},
	{broker.ErrUserDeleted, http.StatusUnauthorized, "not_authorised"},
	{broker.ErrAccessRefused, http.StatusForbidden, "access_refused"},
	{broker.ErrVHostRefused, http.StatusForbidden, "access_refused"},
	{broker.ErrVHostConnections, http.StatusTooManyRequests, "limit_reached"},
	{broker.ErrUserConnections, http.StatusTooManyRequests, "limit_reached"},
	{broker.ErrInvalidName, http.StatusBadRequest, "bad_request"},
	{broker.ErrInvalidPassword, http.StatusBadRequest, "bad_request"},
	{broker.ErrInvalidPattern, http.StatusBadRequest, "bad_request"},
	{broker.ErrInvalidParameter, http.StatusBadRequest, "bad_request"},
	{broker.ErrInvalidLimit, http.StatusBadRequest, "bad_request"},
	{broker.ErrLogFailed, http.StatusServiceUnavailable, "unavailable"},
	{broker.ErrClosed, http.StatusServiceUnavailable, "unavailable"},
	{context.Canceled, http.StatusRequestTimeout, "gone"}, // which the client does not see
}

func refusalOf(err error) *refused {
	var re *refused
	if errors.As(err, &re) {
		return re
	}
	var tooLong *http.MaxBytesError
	if errors.As(err, &tooLong) {
		return &refused{http.StatusRequestEntityTooLarge, Refusal{"bad_request", "the body is too long"}}
	}
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			return &refused{s.status, Refusal{s.name, strings.TrimPrefix(err.Error(), "broker: ")}}
		}
	}
	return &refused{http.StatusInternalServerError, Refusal{"internal_error", "the broker failed; its log says more"}}
}
