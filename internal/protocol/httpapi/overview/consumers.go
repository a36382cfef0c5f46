package overview

import (
	"net/http"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// consumers returns the consumers of one virtual host, or of all that the caller may see. Callers
// without monitoring see only their own.
func (p *api) consumers(r *http.Request, vhosts ...string) (all []inspect.ConsumerStatus, err error) {
	caller := rest.CallerOf(r.Context())
	for _, v := range vhosts {
		err := p.inVHost(v, func(s *broker.Session) error {
			list, err := inspect.Consumers(s)
			for _, c := range list {
				if caller.Monitors() || c.User == caller.User {
					all = append(all, c)
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (p *api) consumerPaths() {
	list := func(r *http.Request, vhosts ...string) (any, error) {
		all, err := p.consumers(r, vhosts...)
		if err != nil {
			return nil, err
		}
		return rest.Listing(r, all, rest.Collection[inspect.ConsumerStatus, rest.Consumer]{
			Name: func(c inspect.ConsumerStatus) string { return c.Queue },
			Show: func(some []inspect.ConsumerStatus) ([]rest.Consumer, error) {
				return rest.Consumers(some, p.o.Clients, p.o.Name), nil
			},
		})
	}
	p.Get(rest.Management, "/api/consumers", func(r *http.Request) (any, error) {
		return list(r, rest.List(p.VHosts(r), func(v catalog.VHostInfo) string { return v.Name })...)
	})
	p.Get(rest.Management, "/api/consumers/{vhost}", func(r *http.Request) (any, error) {
		return list(r, rest.Name(r, "vhost"))
	})
}
