package rest

import (
	"net/http"
	"net/url"
	"strings"
)

// slash replaces a name that is just "/", which no wildcard of http.ServeMux matches.
const slash = "\x00"

// DefaultExchange is the name of the default exchange in a path.
const DefaultExchange = "amq.default"

// exchangeAt is where a path that begins with /api/ and the key has the name of an exchange.
var exchangeAt = map[string]int{"exchanges": 4, "bindings": 5}

// hideSlashes replaces segments of the path that are "/" when unescaped, and the empty name of the
// default exchange. It returns false if a segment is already slash, or another one is empty,
// because no object has that name.
func hideSlashes(r *http.Request) bool {
	segments := strings.Split(r.URL.EscapedPath(), "/")
	if len(segments) > 2 {
		if at := exchangeAt[segments[2]]; at > 0 && len(segments) > at+1 && segments[at] == "" { // the last may be the end of a path with a slash
			segments[at] = DefaultExchange
		}
	}
	for i, s := range segments {
		if s == "%00" {
			return false
		}
		if strings.EqualFold(s, "%2F") {
			segments[i] = "%00"
		}
	}
	raw := strings.Join(segments, "/")
	if strings.HasPrefix(raw, "/api/") { // as in RabbitMQ, a trailing slash makes no difference
		raw = strings.TrimSuffix(raw, "/")
		if strings.Contains(raw, "//") {
			return false
		}
	}
	if path, err := url.PathUnescape(raw); err == nil {
		u := *r.URL
		u.Path, u.RawPath = path, raw
		r.URL = &u
	}
	return true
}

// Name returns the value of a wildcard of the path.
func Name(r *http.Request, wildcard string) string {
	v := r.PathValue(wildcard)
	if v == slash {
		return "/"
	}
	return v
}

// ShownPath returns the path as the client sent it, for the log.
func ShownPath(r *http.Request) string {
	path := strings.ReplaceAll(r.URL.EscapedPath(), "%00", "%2F")
	if before, _, ok := strings.Cut(path, "/hash_password/"); ok { // the rest is a password
		return before + "/hash_password/***"
	}
	return path
}
