package rest

import (
	"net/http"
	"net/url"
	"strings"
)

// slash stands for a name that is just "/", which http.ServeMux matches with no wildcard.
const slash = "\x00"

// hideSlashes changes segments of the path that are "/" when unescaped. The result is false when
// one is slash already: nothing has that name.
func hideSlashes(r *http.Request) bool {
	segments := strings.Split(r.URL.EscapedPath(), "/")
	for i, s := range segments {
		if s == "%00" {
			return false
		}
		if strings.EqualFold(s, "%2F") {
			segments[i] = "%00"
		}
	}
	raw := strings.Join(segments, "/")
	if strings.HasPrefix(raw, "/api/") { // with a slash at its end a path means the same, as in RabbitMQ
		raw = strings.TrimSuffix(raw, "/")
	}
	if path, err := url.PathUnescape(raw); err == nil {
		u := *r.URL
		u.Path, u.RawPath = path, raw
		r.URL = &u
	}
	return true
}

// Name is the wildcard of the path called wildcard.
func Name(r *http.Request, wildcard string) string {
	v := r.PathValue(wildcard)
	if v == slash {
		return "/"
	}
	return v
}

// ShownPath is the path as the client gave it, for the log.
func ShownPath(r *http.Request) string {
	path := strings.ReplaceAll(r.URL.EscapedPath(), "%00", "%2F")
	if before, _, ok := strings.Cut(path, "/hash_password/"); ok { // the rest is a password
		return before + "/hash_password/***"
	}
	return path
}
