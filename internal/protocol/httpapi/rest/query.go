package rest

import (
	"net/http"
	"strconv"
	"time"
)

// Number reads a number from 1 to most from the query. The default is unset.
func Number(r *http.Request, key string, unset, most int) (int, error) {
	text := r.URL.Query().Get(key)
	if text == "" {
		return unset, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, BadRequest(key + " is a number from 1 to " + strconv.Itoa(most))
	}
	return n, nil
}

// Span reads a duration from the query, such as 30s, or a number of seconds. The default is unset.
func Span(r *http.Request, key string, unset, most time.Duration) (time.Duration, error) {
	text := r.URL.Query().Get(key)
	if text == "" {
		return unset, nil
	}
	d, err := ParseSpan(text)
	if err != nil || d > most {
		return 0, BadRequest(key + " is how long, such as 30s, at most " + most.String())
	}
	return d, nil
}

// ParseSpan parses a duration such as 30s, or a number of seconds. It rejects negative ones.
func ParseSpan(text string) (time.Duration, error) {
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		return time.Duration(n) * time.Second, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, BadRequest("\"" + text + "\" is no duration such as 30s or 1h30m, nor a number of seconds")
	}
	return d, nil
}

// Truth reads a boolean from the query. The default is false.
func Truth(r *http.Request, key string) (bool, error) {
	switch r.URL.Query().Get(key) {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	}
	return false, BadRequest(key + " is true or false")
}

// List applies show to each element. The result is never nil.
func List[T, V any](many []T, show func(T) V) []V {
	out := make([]V, len(many))
	for i := range many {
		out[i] = show(many[i])
	}
	return out
}
