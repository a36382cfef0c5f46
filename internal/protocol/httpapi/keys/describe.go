package keys

import "fiveways.dev/fiveways/internal/protocol/httpapi/rest"

// about describes the routes of this package for the OpenAPI document.
var about = map[string]rest.About{
	"GET /api/keys": {Summary: "The ordinary keys of etcd's API, a page at a time", Out: Page{}, Query: []rest.Parameter{
		{Name: "prefix", About: "only keys that begin so"}, {Name: "values", About: "with the beginnings of their values", Type: "boolean"},
		{Name: "limit", About: "maximum number of results, up to 1000 [50]", Type: "integer"}, {Name: "after", About: "what a page before gave as next"},
	}},
	"GET /api/keys/{key}":    {Summary: "A key with its value", Out: Key{}},
	"PUT /api/keys/{key}":    {Summary: "Set a key", In: Value{}},
	"DELETE /api/keys/{key}": {Summary: "Delete a key"},
}
