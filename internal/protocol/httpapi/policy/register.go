package policy

import (
	"net/http"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/policies"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// paths serves the paths of one API.
type paths struct{ *rest.API }

// Register adds the paths to an API.
func Register(a *rest.API) {
	p := paths{a}
	p.policyPaths(kind{path: "/api/policies", component: policies.Component, need: rest.Policymaking})
	p.policyPaths(kind{path: "/api/operator-policies", component: policies.OperatorComponent, need: rest.Administration})
	p.vhostLimitPaths()
	p.userLimitPaths()
	a.Describe(about)
}

// visible returns the virtual host in the path, or else all that the caller may see.
func (p paths) visible(r *http.Request) []string {
	if r.PathValue("vhost") != "" {
		return []string{rest.Name(r, "vhost")}
	}
	return rest.List(p.VHosts(r), func(v catalog.VHostInfo) string { return v.Name })
}
