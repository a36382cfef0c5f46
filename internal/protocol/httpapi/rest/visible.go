package rest

import (
	"net/http"

	"fiveways.dev/fiveways/internal/core/catalog"
)

// see returns an error unless the caller may see a virtual host. The tags administrator and
// monitoring allow it for all virtual hosts; otherwise the caller needs a permission in it. The
// engine checks what the caller may do there.
func (a *API) see(r *http.Request, vhost string) error {
	looks := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch _, err := a.Broker.VHost(vhost); {
	case err != nil && r.Method == http.MethodPut:
		return ErrNoVHost
	case err != nil:
		return err
	}
	c := CallerOf(r.Context())
	if c.seesAll(looks) || len(a.Broker.Permissions(c.User, vhost)) > 0 {
		return nil
	}
	return errNotVisible
}

func (c *Caller) seesAll(looks bool) bool {
	return c.Operator || c.has(catalog.TagAdministrator) || looks && c.has(tagMonitoring)
}

// VHosts returns the virtual hosts that the caller may look at, by name. The path must need
// Management or more.
func (a *API) VHosts(r *http.Request) []catalog.VHostInfo {
	all := a.Broker.VHosts()
	c := CallerOf(r.Context())
	if c.seesAll(true) {
		return all
	}
	may := map[string]bool{}
	for _, p := range a.Broker.Permissions(c.User, "") {
		may[p.VHost] = true
	}
	visible := all[:0]
	for _, v := range all {
		if may[v.Name] {
			visible = append(visible, v)
		}
	}
	return visible
}

// Monitors reports whether the caller may see what belongs to other users, such as their
// connections.
func (c *Caller) Monitors() bool { return c.seesAll(true) }

// Administers reports whether the caller has the permissions of an administrator.
func (c *Caller) Administers() bool { return c.Operator || c.has(catalog.TagAdministrator) }
