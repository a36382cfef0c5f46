package httpapi

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"fiveways/internal/broker"
	"fiveways/internal/semaphores"
)

// Options configure an API. The zero value is the default.
type Options struct {
	Semaphores *semaphores.Manager // of this broker; nil: there are none
	Log        *slog.Logger        // [slog.Default()]
}

// API answers requests on one broker.
type API struct {
	broker *broker.Broker
	log    *slog.Logger
	mux    http.ServeMux
}

// maxBody bounds the body of a request.
const maxBody = 16 << 20

// New returns the API of b.
func New(b *broker.Broker, o Options) *API {
	a := &API{broker: b, log: o.Log}
	if a.log == nil {
		a.log = slog.Default()
	}
	a.users()
	a.vhosts()
	a.permissions()
	a.limitPaths()
	a.messages()
	a.profiles()
	return a
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	found := hideSlashes(r)
	if found {
		_, pattern := a.mux.Handler(r)
		found = pattern != ""
	}
	if !found {
		a.refuse(w, r, notFound("Not Found"))
		return
	}
	a.mux.ServeHTTP(w, r)
}

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

// handle serves pattern by fn.
func (a *API) handle(pattern string, fn func(r *http.Request) (answer, error)) {
	a.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		out, err := fn(r)
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			a.log.Info("http: change", "method", r.Method, "path", shownPath(r), "status", out.status)
		}
		write(w, out.status, out.body)
	})
}

// get serves a GET that answers with a value.
func (a *API) get(path string, fn func(r *http.Request) (any, error)) {
	a.handle("GET "+path, func(r *http.Request) (answer, error) {
		v, err := fn(r)
		return answer{http.StatusOK, v}, err
	})
}

// put serves a PUT with a body of type T that creates a thing or changes it.
func put[T any](a *API, path string, fn func(r *http.Request, in T) (created bool, err error)) {
	a.handle("PUT "+path, func(r *http.Request) (answer, error) {
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
		return badRequest("the body is not the JSON object expected here: " + err.Error())
	}
	return nil
}

// delete serves a DELETE.
func (a *API) delete(path string, fn func(r *http.Request) error) {
	a.handle("DELETE "+path, func(r *http.Request) (answer, error) {
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
	if re.status >= http.StatusInternalServerError {
		a.log.Error("http: request failed", "method", r.Method, "path", shownPath(r), "err", err)
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
	{broker.ErrInvalidName, http.StatusBadRequest, "bad_request"},
	{broker.ErrInvalidPassword, http.StatusBadRequest, "bad_request"},
	{broker.ErrInvalidPattern, http.StatusBadRequest, "bad_request"},
	{broker.ErrInvalidParameter, http.StatusBadRequest, "bad_request"},
	{broker.ErrInvalidLimit, http.StatusBadRequest, "bad_request"},
	{broker.ErrLogFailed, http.StatusServiceUnavailable, "unavailable"},
	{broker.ErrClosed, http.StatusServiceUnavailable, "unavailable"},
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
