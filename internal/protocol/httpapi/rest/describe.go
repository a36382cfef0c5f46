package rest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// About is the description of a route in the OpenAPI document, beyond its path and required tags.
// Values stand for their types.
type About struct {
	Summary string      // one line
	In      any         // the body of a request; nil: none is read
	Raw     string      // a content type, beside JSON, whose body is read as raw bytes [none]
	Out     any         // the body of an answer with status 200; of a Listing, one of its items
	Listing bool        // Listing makes the answer
	Answers map[int]any // the bodies of answers by their status, instead of Out, nil for none [see Route.Answers]
	Query   []Parameter // what the query may ask for, beside what each listing takes
	Type    string      // media type of an answer [application/json]
}

// Parameter is a query parameter.
type Parameter struct {
	Name, About string
	Type        string // JSON type [string]
}

// Histories are the query parameters that select samples of statistics.
var Histories = []Parameter{
	{"lengths_age", "with lengths_incr: numbers of messages over this many seconds, in steps of the given number of seconds", "integer"}, {"lengths_incr", "see lengths_age", "integer"},
	{"msg_rates_age", "with msg_rates_incr: rates of messages over this many seconds, in steps of the given number of seconds", "integer"}, {"msg_rates_incr", "see msg_rates_age", "integer"},
	{"data_rates_age", "with data_rates_incr: bytes of connections over this many seconds, in steps of the given number of seconds", "integer"}, {"data_rates_incr", "see data_rates_age", "integer"},
	{"node_stats_age", "with node_stats_incr: figures of the node over this many seconds, in steps of the given number of seconds", "integer"}, {"node_stats_incr", "see node_stats_age", "integer"},
}

// Describe adds descriptions of routes, by their patterns.
func (a *API) Describe(routes map[string]About) {
	if a.about == nil {
		a.about = map[string]About{}
	}
	maps.Copy(a.about, routes)
}

// Routes returns all routes of the API.
func (a *API) Routes() []Route {
	out := slices.Clone(a.routes)
	for i := range out {
		out[i].About = a.about[out[i].Pattern]
	}
	return out
}

// Described returns the patterns of all routes with a description.
func (a *API) Described() []string { return slices.Sorted(maps.Keys(a.about)) }

// Method returns the method of the pattern.
func (r *Route) Method() string {
	method, _, _ := strings.Cut(r.Pattern, " ")
	return method
}

// Path returns the path of the pattern.
func (r *Route) Path() string {
	_, path, _ := strings.Cut(r.Pattern, " ")
	return path
}

// Answers returns the bodies of successful answers, by status. A route that declares neither
// Answers nor Out answers without a body: 201 or 204 to a PUT, otherwise 204.
func (r *Route) Answers() map[int]any {
	switch {
	case r.About.Answers != nil:
		return r.About.Answers
	case r.About.Out != nil:
		return map[int]any{http.StatusOK: r.About.Out}
	case r.Method() == http.MethodPut:
		return map[int]any{http.StatusCreated: nil, http.StatusNoContent: nil}
	}
	return map[int]any{http.StatusNoContent: nil}
}

// Tags returns the tags of which a caller must have one. nil means that a login is enough, or that
// none is needed.
func (n Need) Tags() []string { return slices.Clone(openers[n].tags) }
