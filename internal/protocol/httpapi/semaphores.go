package httpapi

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/semaphores/semjson"
)

// SemaphoreList is one page of semaphores.
type SemaphoreList struct {
	Semaphores []semjson.Semaphore `json:"semaphores"`
	Next       string              `json:"next,omitempty"` // for ?after=, if there are more
}

// Page sizes.
const (
	defaultPage = 50
	largestPage = 1000
)

// semaphorePaths serves /api/semaphores except for tasks and events. They need only a login,
// because permissions on the names of semaphores decide the rest.
func (a *API) semaphorePaths() {
	a.Get(rest.Login, "/api/semaphores", a.allSemaphores)
	a.Get(rest.Login, "/api/semaphores/{vhost}", a.listSemaphores)
	a.Get(rest.Login, "/api/semaphores/{vhost}/{key}", func(r *http.Request) (any, error) {
		look := semaphores.Look{Of: of(r)}
		err := a.do(r, &look, &look.Err)
		return semjson.OfInfo(rest.Name(r, "vhost"), &look.Info), err
	})
	a.Handle(rest.Login, "PUT /api/semaphores/{vhost}/{key}", a.putSemaphore)
	a.Delete(rest.Login, "/api/semaphores/{vhost}/{key}", func(r *http.Request) error {
		ifEmpty, err := rest.Truth(r, "if-empty")
		if err != nil {
			return err
		}
		change := semaphores.Delete{Of: of(r), IfEmpty: ifEmpty}
		if err := a.do(r, &change, &change.Err); err != nil {
			return err
		}
		if change.Missing {
			return semaphoreRefusal(&failure.Error{Err: semaphores.ErrNotFound, Kind: "semaphore", Name: change.Key})
		}
		return nil
	})
}

// of returns a reference to the semaphore in the path.
func of(r *http.Request) semaphores.Of { return semaphores.Of{Key: rest.Name(r, "key")} }

// do executes one change or query in the virtual host of the path. of points to where the change
// stores its error.
func (a *API) do(r *http.Request, change semaphores.Change, of *error) error {
	return a.with(r, func(_ context.Context, s *broker.Session) error { return a.doIn(s, change, of) })
}

// doIn is do in an open session.
func (a *API) doIn(s *broker.Session, change semaphores.Change, of *error) error {
	if err := a.semaphores.Do(s, change); err != nil {
		return err
	}
	return *of
}

var errAtRest = rest.Fail(http.StatusServiceUnavailable, semjson.Unavailable, "there are semaphores while the broker runs only")

// with calls fn with a session in the virtual host of the path. It converts errors to refusals.
func (a *API) with(r *http.Request, fn func(ctx context.Context, s *broker.Session) error) error {
	if a.semaphores == nil {
		return errAtRest
	}
	return semaphoreRefusal(a.In(r, rest.Name(r, "vhost"), fn))
}

// semaphoreStatuses are the HTTP statuses of the refusals of package semjson.
var semaphoreStatuses = map[string]int{
	semjson.NotFound: http.StatusNotFound, semjson.AccessRefused: http.StatusForbidden, semjson.BadRequest: http.StatusBadRequest,
	semjson.Conflict: http.StatusConflict, semjson.NoRoom: http.StatusInsufficientStorage, semjson.TooLarge: http.StatusRequestEntityTooLarge,
	semjson.Unavailable: http.StatusServiceUnavailable,
}

// semaphoreRefusal words an error of the manager as all protocols do. It returns other errors
// unchanged.
func semaphoreRefusal(err error) error {
	var re *rest.Refused
	if err == nil || errors.As(err, &re) {
		return err
	}
	words := semjson.Refuse(err)
	status, known := semaphoreStatuses[words.Error]
	if !known {
		return err
	}
	return rest.Fail(status, words.Error, words.Reason)
}

// listSemaphores returns one page of the semaphores of a virtual host.
func (a *API) listSemaphores(r *http.Request) (any, error) {
	limit, err := rest.Number(r, "limit", defaultPage, largestPage)
	if err != nil {
		return nil, err
	}
	vhost, q := rest.Name(r, "vhost"), r.URL.Query()
	var page SemaphoreList
	err = a.with(r, func(_ context.Context, s *broker.Session) error {
		page.Semaphores, page.Next = a.pageOf(s, vhost, q.Get("contains"), q.Get("after"), limit)
		return nil
	})
	return page, err
}

// pageOf lists the semaphores of a virtual host after the key after.
func (a *API) pageOf(s *broker.Session, vhost, contains, after string, limit int) ([]semjson.Semaphore, string) {
	found, next := a.semaphores.List(s, contains, after, limit)
	return rest.List(found, func(i semaphores.Info) semjson.Semaphore { return semjson.OfInfo(vhost, &i) }), next
}

// allSemaphores returns one page of the semaphores of all virtual hosts that the caller may enter.
// The cursor is the virtual host and key where the previous page ended, escaped as in a path.
func (a *API) allSemaphores(r *http.Request) (any, error) {
	if a.semaphores == nil {
		return nil, errAtRest
	}
	limit, err := rest.Number(r, "limit", defaultPage, largestPage)
	if err != nil {
		return nil, err
	}
	after := r.URL.Query().Get("after")
	vhost, key, ok := cutPlace(after)
	if !ok && after != "" {
		return nil, rest.BadRequest("after is what a page before gave as next")
	}
	page := SemaphoreList{Semaphores: []semjson.Semaphore{}}
	for _, v := range a.entered(r) {
		if v < vhost {
			continue
		}
		behind := ""
		if v == vhost {
			behind = key
		}
		err := a.fill(r, &page, v, behind, limit+1) // one more, to know if a page follows
		if errors.Is(err, failure.ErrVHostNotFound) || errors.Is(err, failure.ErrVHostRefused) {
			continue // deleted, or access was revoked, since it was listed
		}
		if err != nil {
			return nil, err
		}
		if len(page.Semaphores) > limit {
			page.Semaphores = page.Semaphores[:limit]
			last := page.Semaphores[limit-1]
			page.Next = url.PathEscape(last.VHost) + "/" + url.PathEscape(last.Key)
			break
		}
	}
	return page, nil
}

// fill adds semaphores of a virtual host to a page of at most limit semaphores.
func (a *API) fill(r *http.Request, page *SemaphoreList, vhost, after string, limit int) error {
	return a.In(r, vhost, func(_ context.Context, s *broker.Session) error {
		some, _ := a.pageOf(s, vhost, r.URL.Query().Get("contains"), after, limit-len(page.Semaphores))
		page.Semaphores = append(page.Semaphores, some...)
		return nil
	})
}

// entered returns the virtual hosts that the caller may enter, in order.
func (a *API) entered(r *http.Request) (names []string) {
	if c := rest.CallerOf(r.Context()); !c.Operator {
		names = rest.List(a.Broker.Permissions(c.User, ""), func(p catalog.Permission) string { return p.VHost })
	} else {
		names = rest.List(a.Broker.VHosts(), func(v catalog.VHostInfo) string { return v.Name })
	}
	slices.Sort(names)
	return names
}

// cutPlace splits a cursor into a virtual host and a key.
func cutPlace(text string) (vhost, key string, ok bool) {
	vhost, key, ok = strings.Cut(text, "/")
	vhost, err := url.PathUnescape(vhost)
	key, err2 := url.PathUnescape(key)
	return vhost, key, ok && cmp.Or(err, err2) == nil
}

// putSemaphore creates or changes a semaphore. Fields that the body leaves out keep their values,
// or get the defaults.
func (a *API) putSemaphore(r *http.Request) (rest.Answer, error) {
	var in semjson.Settings
	if err := read(r, &in); err != nil {
		return rest.Answer{}, err
	}
	settings, err := in.Of(rest.Name(r, "key"))
	if err != nil {
		return rest.Answer{}, semaphoreRefusal(err)
	}
	change := semaphores.Update{Of: of(r), Settings: settings, Create: true}
	if err := a.do(r, &change, &change.Err); err != nil {
		return rest.Answer{}, err
	}
	if change.Created {
		return rest.Answer{Status: http.StatusCreated}, nil
	}
	return rest.Answer{Status: http.StatusNoContent}, nil
}

// read reads the body of a request about semaphores. Unknown fields are rejected, because they
// would be mistakes; an empty body has no fields.
func read(r *http.Request, into any) error {
	text, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		return rest.Unreadable(err)
	case len(text) == 0:
		return nil
	}
	if err := semjson.Decode(text, into); err != nil {
		return rest.Unreadable(err)
	}
	return nil
}
