package page

import "fiveways.dev/fiveways/internal/protocol/httpapi/rest"

// about describes the routes of this package for the OpenAPI document.
var about = map[string]rest.About{
	"GET /{$}":                        {Summary: "The web page", Out: "", Type: mediaTypes[".html"]},
	"GET /assets/{version}/{file...}": {Summary: "A file of the web page", Out: "", Type: mediaTypes[".js"]},
}
