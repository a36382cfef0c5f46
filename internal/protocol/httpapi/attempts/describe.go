package attempts

import "fiveways.dev/fiveways/internal/protocol/httpapi/rest"

// about describes the routes of this package for the OpenAPI document.
var about = map[string]rest.About{
	"GET /api/auth/attempts/{node}":           {Summary: "How many logins there were by each protocol", Out: []counts{}},
	"GET /api/auth/attempts/{node}/source":    {Summary: "How many logins there were by each user and address", Out: []sourceCounts{}},
	"DELETE /api/auth/attempts/{node}":        {Summary: "Forget the logins by protocol"},
	"DELETE /api/auth/attempts/{node}/source": {Summary: "Forget the logins by user and address"},
}
