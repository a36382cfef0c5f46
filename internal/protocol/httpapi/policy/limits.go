package policy

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/policies"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// LimitValue sets one limit. A negative value means no limit.
type LimitValue struct {
	Value int64 `json:"value"`
}

// Limits are the limits of a user or a virtual host.
type Limits struct {
	User  string           `json:"user,omitempty"`
	VHost string           `json:"vhost,omitempty"`
	Value map[string]int64 `json:"value"`
}

func (p paths) vhostLimitPaths() {
	list := func(r *http.Request) (any, error) {
		out := []Limits{}
		for _, name := range p.visible(r) {
			if v, err := p.Broker.VHost(name); err == nil && len(v.Limits) > 0 {
				out = append(out, Limits{VHost: v.Name, Value: v.Limits})
			}
		}
		return out, nil
	}
	p.Get(rest.Management, "/api/vhost-limits", list)
	p.Get(rest.Management, "/api/vhost-limits/{vhost}", list)
	one := "/api/vhost-limits/{vhost}/{limit}"
	p.Handle(rest.Administration, "PUT "+one, func(r *http.Request) (rest.Answer, error) {
		vhost, limit := rest.Name(r, "vhost"), rest.Name(r, "limit")
		if _, err := p.Broker.VHost(vhost); err != nil {
			return rest.Answer{}, rest.ErrNoVHost
		}
		return setLimit(r, limit, "limits", func(n int64) error { return p.Broker.SetVHostLimit(vhost, limit, n) },
			func(reason string) error { return rest.Invalid(reason) })
	})
	p.Delete(rest.Administration, one, func(r *http.Request) error {
		return cleared(p.Broker.ClearVHostLimit(rest.Name(r, "vhost"), rest.Name(r, "limit")))
	})
}

func (p paths) userLimitPaths() {
	p.Get(rest.Management, "/api/user-limits", func(*http.Request) (any, error) { return limitsOf(p.Broker.Users()...), nil })
	p.Get(rest.Management, "/api/user-limits/{user}", func(r *http.Request) (any, error) {
		u, err := p.Broker.User(rest.Name(r, "user"))
		if err != nil {
			return nil, rest.ErrNotThere
		}
		return limitsOf(u), nil
	})
	one := "/api/user-limits/{user}/{limit}"
	p.Handle(rest.Administration, "PUT "+one, func(r *http.Request) (rest.Answer, error) {
		user, limit := rest.Name(r, "user"), rest.Name(r, "limit")
		if _, err := p.Broker.User(user); err != nil {
			return rest.Answer{}, rest.BadRequest("no_such_user: " + user)
		}
		return setLimit(r, limit, "user-limits", func(n int64) error { return p.Broker.SetUserLimit(user, limit, n) }, rest.BadRequest)
	})
	p.Delete(rest.Administration, one, func(r *http.Request) error {
		return cleared(p.Broker.ClearUserLimit(rest.Name(r, "user"), rest.Name(r, "limit")))
	})
}

// limitsOf returns the limits of the users that have any.
func limitsOf(users ...catalog.User) []Limits {
	out := []Limits{}
	for _, u := range users {
		if len(u.Limits) > 0 {
			out = append(out, Limits{User: u.Name, Value: u.Limits})
		}
	}
	return out
}

// setLimit sets a limit to the value in the body. refuse words a refusal; place is the object that
// has the limits, in RabbitMQ's terms.
func setLimit(r *http.Request, limit, place string, set func(n int64) error, refuse func(reason string) error) (rest.Answer, error) {
	in := map[string]json.RawMessage{}
	if err := rest.DecodeOptional(r, &in); err != nil {
		return rest.Answer{}, err
	}
	if err := needed(in, "value"); err != nil {
		return rest.Answer{}, err
	}
	n, err := strconv.ParseInt(string(in["value"]), 10, 64)
	if err != nil {
		return rest.Answer{}, refuse(limit + " should be a number, actually was " + policies.Term(in["value"]))
	}
	if err = set(n); errors.Is(err, failure.ErrInvalidLimit) {
		err = refuse("Unrecognised terms [{<<" + strconv.Quote(limit) + ">>," + policies.Term(in["value"]) + "}] in " + place)
	}
	return rest.Answer{Status: http.StatusNoContent}, err
}

// cleared ignores the error for an invalid limit: such a limit cannot be set, so there is nothing
// to clear.
func cleared(err error) error {
	if errors.Is(err, failure.ErrInvalidLimit) {
		return nil
	}
	return err
}
