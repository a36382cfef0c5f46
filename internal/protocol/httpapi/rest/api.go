package rest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"runtime/debug"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol"
)

// Options configure an API. A zero value means the default in brackets.
type Options struct {
	Logins     *protocol.Logins // shared with other protocols [of its own]
	Audit      *protocol.Audit  // where administrative acts are recorded [in Log]
	LoginDelay time.Duration    // before a refused login is answered [1 s]; negative: none
	Log        *slog.Logger     // [slog.Default()]
}

// API answers requests on one broker. As an http.Handler it answers the operator's requests, with
// all permissions. A Server serves it to users.
type API struct {
	Broker *broker.Broker
	Log    *slog.Logger
	quiet  *slog.Logger // rate-limited, for what clients can cause without a login

	Logins     *protocol.Logins
	audit      *protocol.Audit
	loginDelay time.Duration
	mux        http.ServeMux
	routes     []Route
	about      map[string]About // by pattern
}

// MaxBody limits the size of a request's body.
const MaxBody = 16 << 20

// New returns the API of b without any paths. Open, Handle and the like add paths.
func New(b *broker.Broker, o Options) *API {
	a := &API{Broker: b, Log: o.Log, Logins: o.Logins, audit: o.Audit, loginDelay: o.LoginDelay}
	a.Log = cmp.Or(a.Log, slog.Default())
	a.quiet = protocol.Sparse(a.Log)
	if a.Logins == nil {
		a.Logins = protocol.NewLogins(b, nil)
	}
	if a.audit == nil {
		a.audit, _ = protocol.OpenAudit("", a.Log) // without a file nothing can fail
	}
	a.loginDelay = cmp.Or(a.loginDelay, time.Second)
	return a
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.serve(w, r, &Caller{Operator: true})
}

// serve answers a request whose caller has not been authenticated yet.
func (a *API) serve(w http.ResponseWriter, r *http.Request, c *Caller) {
	c.ID, c.Conn = requestID(r), http.NewResponseController(w)
	w.Header().Set("X-Request-Id", c.ID)
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
	r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
	defer a.survive(r)
	if !hideSlashes(r) {
		a.Refuse(w, r, NotFound("Not Found"))
		return
	}
	if h, pattern := a.mux.Handler(r); pattern == "" {
		a.unserved(w, r, h)
		return
	}
	a.mux.ServeHTTP(w, r)
}

// survive logs a panic of a handler and closes the connection, because the client cannot know what
// was done.
func (a *API) survive(r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p != http.ErrAbortHandler {
		a.Log.Error("http: request failed", "request", CallerOf(r.Context()).ID, "method", r.Method, "path", ShownPath(r), "panic", p, "stack", string(debug.Stack()))
	}
	panic(http.ErrAbortHandler)
}

// unserved rejects a request for which no path with its method exists. h is the multiplexer's
// handler for it.
func (a *API) unserved(w http.ResponseWriter, r *http.Request, h http.Handler) {
	if r.Method == http.MethodOptions {
		w.Header().Set("Allow", allowed(methodsOf(h, r)))
		return
	}
	if err := a.admit(r, Login); err != nil { // without a login, a client must not learn which paths exist
		a.Refuse(w, r, err)
		return
	}
	allow := methodsOf(h, r)
	if allow == "" {
		a.Refuse(w, r, NotFound("Not Found"))
		return
	}
	w.Header().Set("Allow", allow)
	a.Refuse(w, r, &Refused{http.StatusMethodNotAllowed, Refusal{"method_not_allowed", "this path takes " + allow}})
}

// methodsOf returns the methods of a request's path, which has no other handler than h, or "".
func methodsOf(h http.Handler, r *http.Request) string {
	probe := &probe{header: http.Header{}}
	if h.ServeHTTP(probe, r); probe.status != http.StatusMethodNotAllowed {
		return ""
	}
	return probe.header.Get("Allow")
}

// allowed returns the answer to OPTIONS for a path with some methods, in RabbitMQ's order. As
// there, no login is needed, and paths that do not exist are answered like those that can be read.
func allowed(methods string) string {
	if methods == "" {
		methods = "GET, HEAD"
	}
	allow := ""
	for _, m := range []string{http.MethodHead, http.MethodGet, http.MethodPut, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		if strings.Contains(methods, m) {
			allow += m + ", "
		}
	}
	return allow + http.MethodOptions
}

// probe is a ResponseWriter that keeps only the status and the header.
type probe struct {
	header http.Header
	status int
}

func (p *probe) Header() http.Header         { return p.header }
func (p *probe) WriteHeader(status int)      { p.status = status }
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }

// Refusal is the body of an error response.
type Refusal struct {
	Error  string `json:"error"`
	Reason string `json:"reason"`
}

// Refused is a Refusal with its HTTP status, as an error.
type Refused struct {
	Status int
	Refusal
}

func (r *Refused) Error() string { return r.Reason }

// Fail returns a refusal with a status, a name, and a reason in words for people.
func Fail(status int, name, reason string) *Refused { return &Refused{status, Refusal{name, reason}} }

// BadRequest returns a refusal with status 400.
func BadRequest(reason string) error {
	return &Refused{http.StatusBadRequest, Refusal{"bad_request", reason}}
}

// ErrNotThere is RabbitMQ's error for objects that do not exist.
var ErrNotThere = &Refused{http.StatusNotFound, Refusal{"Object Not Found", "Not Found"}}

// ErrNoVHost is RabbitMQ's error for creating something in a virtual host that does not exist.
var ErrNoVHost = Fail(http.StatusNotFound, "not_found", "vhost_not_found")

// Invalid returns the refusal of a value for one or more reasons, in RabbitMQ's form.
func Invalid(reasons ...string) error {
	return BadRequest("Validation failed\n\n" + strings.Join(reasons, "\n") + "\n")
}

// NotFound returns a refusal with status 404.
func NotFound(reason string) error {
	return &Refused{http.StatusNotFound, Refusal{"Object Not Found", reason}}
}

// Answer is the response to a request: a status, and a value for the body or nil.
type Answer struct {
	Status int
	Body   any
}

// Route is a route of an API: a pattern of net/http, such as "GET /api/queues/{vhost}", and the
// permission it needs.
type Route struct {
	Pattern string
	Need    Need
	Columns bool  // ?columns= selects fields of the answer
	About   About // its description in the OpenAPI document
}

// Open serves pattern by fn, for callers that satisfy n. For a path with {vhost} that needs more
// than a login, the caller must also have access to the virtual host. Administrators have access to
// all.
func (a *API) Open(n Need, pattern string, fn http.HandlerFunc) {
	a.routes = append(a.routes, Route{Pattern: pattern, Need: n})
	ofVHost := n != Anyone && n != Login && n != Administration && strings.Contains(pattern, "{vhost}")
	act := isAct(n, pattern)
	a.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if act {
			seen := &witness{ResponseWriter: w}
			defer a.record(seen, r)
			w = seen
		}
		err := a.admit(r, n)
		if err == nil && ofVHost {
			err = a.see(r, Name(r, "vhost"))
		}
		if err != nil {
			a.Refuse(w, r, err)
			return
		}
		fn(w, r)
	})
}

// Handle serves pattern by fn, whose result is the answer.
func (a *API) Handle(n Need, pattern string, fn func(r *http.Request) (Answer, error)) {
	a.Open(n, pattern, func(w http.ResponseWriter, r *http.Request) {
		out, err := fn(r)
		if err != nil {
			a.Refuse(w, r, err)
			return
		}
		Write(w, out.Status, out.Body)
	})
}

// Get serves a GET that answers with a value, or with the fields of it that ?columns= selects.
func (a *API) Get(n Need, path string, fn func(r *http.Request) (any, error)) {
	a.Handle(n, "GET "+path, func(r *http.Request) (Answer, error) {
		v, err := fn(r)
		if err == nil {
			v = columns(r, v)
		}
		return Answer{http.StatusOK, v}, err
	})
	a.routes[len(a.routes)-1].Columns = true
}

// Put serves a PUT with a body of type T that creates or changes an object.
func Put[T any](a *API, n Need, path string, fn func(r *http.Request, in T) (created bool, err error)) {
	put(a, n, path, Decode, fn)
}

// PutFields is like Put, but fn reports missing fields itself, so the body may be left out.
func PutFields[T any](a *API, n Need, path string, fn func(r *http.Request, in T) (created bool, err error)) {
	put(a, n, path, DecodeOptional, fn)
}

func put[T any](a *API, n Need, path string, decode func(*http.Request, any) error, fn func(*http.Request, T) (bool, error)) {
	a.Handle(n, "PUT "+path, func(r *http.Request) (Answer, error) {
		var in T
		if err := decode(r, &in); err != nil {
			return Answer{}, err
		}
		created, err := fn(r, in)
		if created {
			return Answer{Status: http.StatusCreated}, err
		}
		return Answer{Status: http.StatusNoContent}, err
	})
}

// Decode decodes the body of a request into the value that into points to.
func Decode(r *http.Request, into any) error {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		return Unreadable(err)
	}
	return nil
}

// DecodeOptional is like Decode, but accepts a missing body, which leaves into unchanged.
func DecodeOptional(r *http.Request, into any) error {
	err := json.NewDecoder(r.Body).Decode(into)
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	return Unreadable(err)
}

// Unreadable returns the refusal of a body that could not be decoded.
func Unreadable(err error) error {
	var tooLong *http.MaxBytesError
	var refused *Refused
	if errors.As(err, &tooLong) || errors.As(err, &refused) {
		return err
	}
	var odd *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	if errors.As(err, &odd) && odd.Field == "" || errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return BadRequest("not_json: " + misfit(err))
	}
	return BadRequest("the body is not the JSON object expected here: " + misfit(err))
}

// misfit describes in JSON's terms what is wrong with a body, because encoding/json names Go types.
func misfit(err error) string {
	var odd *json.UnmarshalTypeError
	if !errors.As(err, &odd) {
		return err.Error()
	}
	return fmt.Sprintf("%s takes %s, not a JSON %s", cmp.Or(odd.Field, "the body"), jsonKind(odd.Type), odd.Value)
}

// jsonKind returns JSON's name for a type.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Pointer:
		return jsonKind(t.Elem())
	}
	return "a number"
}

// Delete serves a DELETE.
func (a *API) Delete(n Need, path string, fn func(r *http.Request) error) {
	a.Handle(n, "DELETE "+path, func(r *http.Request) (Answer, error) {
		return Answer{Status: http.StatusNoContent}, fn(r)
	})
}

// Write answers with a value as JSON, or with nothing for nil.
func Write(w http.ResponseWriter, status int, body any) {
	if body == nil {
		w.WriteHeader(status)
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // names of connections contain an arrow, and this is no HTML
	if err := e.Encode(body); err != nil {
		panic("httpapi: an answer cannot be encoded: " + err.Error()) // plain structs: cannot happen
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// Spring AMQP compares the whole body of a health check, and RabbitMQ's has no line break.
	w.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n"))) //nolint:errcheck // the client is gone
}

// Refuse answers with an error. It uses the status in the table, or else logs the error as an
// internal failure of the broker.
func (a *API) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	re := RefusalOf(err)
	if toMake := r.Method == http.MethodPut || r.Method == http.MethodPost; toMake && errors.Is(err, failure.ErrVHostNotFound) {
		re = Fail(http.StatusNotFound, "not_found", "vhost_not_found: "+re.Reason)
	}
	CallerOf(r.Context()).refusal = re.Reason
	switch c := CallerOf(r.Context()); {
	case re.Status == http.StatusInternalServerError:
		a.Log.Error("http: request failed", "request", c.ID, "user", c.Name(), "method", r.Method, "path", ShownPath(r), "err", err)
	case re.Status == http.StatusForbidden || re.Status == http.StatusUnauthorized && c.User != "": // the caller is authenticated
		a.Log.Warn("http: refused", "request", c.ID, "user", c.Name(), "method", r.Method, "path", ShownPath(r), "err", protocol.Clipped(re.Reason))
	case re.Status == http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Basic realm="Fiveways", charset="UTF-8"`)
	}
	Write(w, re.Status, re.Refusal)
}

// statuses maps sentinel errors of the engine to statuses. All other errors are internal errors.
var statuses = []struct {
	err    error
	status int
	name   string
}{
	{failure.ErrVHostNotFound, http.StatusNotFound, "Object Not Found"},
	{failure.ErrQueueNotFound, http.StatusNotFound, "Object Not Found"},
	{failure.ErrExchangeNotFound, http.StatusNotFound, "Object Not Found"},
	{failure.ErrUserNotFound, http.StatusNotFound, "Object Not Found"},
	{failure.ErrVHostDeleted, http.StatusNotFound, "Object Not Found"},
	{failure.ErrUserDeleted, http.StatusUnauthorized, "not_authorised"},
	{failure.ErrAccessRefused, http.StatusForbidden, "access_refused"},
	{failure.ErrVHostRefused, http.StatusForbidden, "access_refused"},
	{failure.ErrInvalidName, http.StatusBadRequest, "bad_request"},
	{failure.ErrInvalidPassword, http.StatusBadRequest, "bad_request"},
	{failure.ErrInvalidPattern, http.StatusBadRequest, "bad_request"},
	{failure.ErrInvalidParameter, http.StatusBadRequest, "bad_request"},
	{failure.ErrInvalidLimit, http.StatusBadRequest, "bad_request"},
	{failure.ErrExclusive, http.StatusConflict, "resource_locked"},
	{failure.ErrInternalExchange, http.StatusForbidden, "access_refused"},
	{failure.ErrStale, http.StatusConflict, "stale"},
	{failure.ErrRejected, http.StatusConflict, "rejected"},
	{failure.ErrWrongKind, http.StatusConflict, "wrong_kind"},
	{failure.ErrAlreadyQueued, http.StatusConflict, "already_queued"},
	{failure.ErrLocked, http.StatusConflict, "locked"},
	{failure.ErrBackoff, http.StatusConflict, "backoff"},
	{failure.ErrTooLarge, http.StatusRequestEntityTooLarge, "bad_request"},
	{failure.ErrReservedName, http.StatusForbidden, "access_refused"},
	{failure.ErrQueueLimit, http.StatusConflict, "limit_reached"},
	{failure.ErrLogFailed, http.StatusServiceUnavailable, "unavailable"},
	{failure.ErrClosed, http.StatusServiceUnavailable, "unavailable"},
	{context.Canceled, http.StatusRequestTimeout, "gone"}, // the client does not see it
}

// RefusalOf returns the refusal for an error.
func RefusalOf(err error) *Refused {
	var re *Refused
	if errors.As(err, &re) {
		return re
	}
	var tooLong *http.MaxBytesError
	if errors.As(err, &tooLong) {
		return &Refused{http.StatusRequestEntityTooLarge, Refusal{"bad_request", "the body is too long"}}
	}
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			return &Refused{s.status, Refusal{s.name, strings.TrimPrefix(err.Error(), "broker: ")}}
		}
	}
	return &Refused{http.StatusInternalServerError, Refusal{"internal_error", "the broker failed; its log says more"}}
}
