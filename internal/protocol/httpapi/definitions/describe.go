package definitions

import "fiveways.dev/fiveways/internal/protocol/httpapi/rest"

// download is the query parameter of an export.
var download = []rest.Parameter{{Name: "download", About: "the name under which a browser is to save the file"}}

// about describes the routes of this package for the OpenAPI document.
var about = map[string]rest.About{
	"GET /api/definitions":          {Summary: "All that is defined, as a file that can be loaded again", Out: File{}, Query: download},
	"GET /api/definitions/{vhost}":  {Summary: "What is defined in a virtual host, as a file", Out: File{}, Query: download},
	"POST /api/definitions":         {Summary: "Load a file of definitions; what is there and not in the file stays", In: File{}, Raw: "multipart/form-data"},
	"POST /api/definitions/{vhost}": {Summary: "Load a file of the definitions of one virtual host", In: File{}, Raw: "multipart/form-data"},
}
