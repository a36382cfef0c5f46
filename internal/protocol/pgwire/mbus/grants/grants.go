// Package grants has the privileges of users on a view.
package grants

import (
	"slices"
	"strings"
)

// Public stands for all users.
const Public = "public"

// Grants are the privileges of users, SELECT and INSERT.
type Grants map[string][]string

// Grant is a privilege of a user.
type Grant struct{ Who, Privilege string }

// Has reports whether the user, or everybody, has a privilege.
func (g Grants) Has(user, privilege string) bool {
	return slices.Contains(g[user], privilege) || slices.Contains(g[Public], privilege)
}

// Change grants privileges, or revokes them, and returns those that this has changed.
func (g *Grants) Change(all []Grant, give bool) (made []Grant) {
	if *g == nil {
		*g = Grants{}
	}
	for _, a := range all {
		have := (*g)[a.Who]
		at := slices.Index(have, a.Privilege)
		switch {
		case give == (at >= 0):
			continue
		case give:
			have = append(have, a.Privilege)
		default:
			have = slices.Delete(have, at, at+1)
		}
		made = append(made, a)
		if (*g)[a.Who] = have; len(have) == 0 {
			delete(*g, a.Who)
		}
	}
	return made
}

// Named returns the privileges that a view supports out of those that a GRANT names.
func Named(privilege string) []string {
	switch p := strings.ToUpper(privilege); p {
	case "ALL", "ALL PRIVILEGES":
		return []string{"SELECT", "INSERT"}
	case "SELECT", "INSERT":
		return []string{p}
	}
	return nil // UPDATE, DELETE and the like have no effect here
}
