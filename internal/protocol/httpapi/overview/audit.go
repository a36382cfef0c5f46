package overview

import (
	"net/http"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// acts lists the last administrative acts. ?name= filters by the user, the act and its object.
func (p *api) acts(r *http.Request) (any, error) {
	return rest.Listing(r, p.Acts(), rest.Collection[protocol.AuditLine, protocol.AuditLine]{
		Name: func(l protocol.AuditLine) string { return l.Who + " " + l.What + " " + l.On },
		Show: func(list []protocol.AuditLine) ([]protocol.AuditLine, error) { return list, nil },
	})
}
