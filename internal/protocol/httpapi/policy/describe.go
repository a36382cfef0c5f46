package policy

import "fiveways.dev/fiveways/internal/protocol/httpapi/rest"

// PolicyChange creates or changes a policy. It serves only as documentation: readPolicy must
// distinguish missing fields from null.
type PolicyChange struct {
	Pattern    string         `json:"pattern"`
	Definition map[string]any `json:"definition"`
	Priority   int            `json:"priority"` // [0]
	ApplyTo    string         `json:"apply-to"` // [all]
}

// about describes the routes of this package for the OpenAPI document.
var about = map[string]rest.About{
	"GET /api/policies":                   {Summary: "The policies that the caller may see", Out: []Policy{}},
	"GET /api/policies/{vhost}":           {Summary: "The policies of a virtual host", Out: []Policy{}},
	"GET /api/policies/{vhost}/{name}":    {Summary: "One policy", Out: Policy{}},
	"PUT /api/policies/{vhost}/{name}":    {Summary: "Make a policy for queues and exchanges, or change one", In: PolicyChange{}},
	"DELETE /api/policies/{vhost}/{name}": {Summary: "Delete a policy"},

	"GET /api/operator-policies":                   {Summary: "The operator policies that the caller may see", Out: []Policy{}},
	"GET /api/operator-policies/{vhost}":           {Summary: "The operator policies of a virtual host", Out: []Policy{}},
	"GET /api/operator-policies/{vhost}/{name}":    {Summary: "One operator policy", Out: Policy{}},
	"PUT /api/operator-policies/{vhost}/{name}":    {Summary: "Create or change an operator policy, which limits the policies of users", In: PolicyChange{}},
	"DELETE /api/operator-policies/{vhost}/{name}": {Summary: "Delete an operator policy"},

	"GET /api/vhost-limits":                    {Summary: "The limits of the virtual hosts that the caller may see", Out: []Limits{}},
	"GET /api/vhost-limits/{vhost}":            {Summary: "The limits of a virtual host", Out: []Limits{}},
	"PUT /api/vhost-limits/{vhost}/{limit}":    {Summary: "Set a limit of a virtual host", In: LimitValue{}},
	"DELETE /api/vhost-limits/{vhost}/{limit}": {Summary: "Take a limit from a virtual host"},
	"GET /api/user-limits":                     {Summary: "The limits of all users", Out: []Limits{}},
	"GET /api/user-limits/{user}":              {Summary: "The limits of a user", Out: []Limits{}},
	"PUT /api/user-limits/{user}/{limit}":      {Summary: "Set a limit of a user", In: LimitValue{}},
	"DELETE /api/user-limits/{user}/{limit}":   {Summary: "Take a limit from a user"},
}
