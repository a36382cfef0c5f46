package attempts

import (
	"net/http"

	"fiveways/internal/protocol"
	"fiveways/internal/protocol/httpapi/rest"
)

// counts are logins by protocol; the names are RabbitMQ's.
type counts struct {
	Protocol  string `json:"protocol"`
	All       uint64 `json:"auth_attempts"`
	Failed    uint64 `json:"auth_attempts_failed"`
	Succeeded uint64 `json:"auth_attempts_succeeded"`
}

// sourceCounts are logins of one user from one address by one protocol.
type sourceCounts struct {
	Address string `json:"remote_address"`
	User    string `json:"username"`
	counts
}

// Register adds the paths. There is one node, so that its name in a path does not matter.
func Register(a *rest.API) {
	a.Describe(about)
	a.Get(rest.Monitoring, "/api/auth/attempts/{node}", func(*http.Request) (any, error) {
		return rest.List(a.Logins.Attempts(), ofProtocol), nil
	})
	a.Get(rest.Monitoring, "/api/auth/attempts/{node}/source", func(*http.Request) (any, error) {
		return rest.List(a.Logins.Sources(), func(t protocol.Tally) sourceCounts { return sourceCounts{t.Address, t.User, ofProtocol(t)} }), nil
	})
	a.Delete(rest.Administration, "/api/auth/attempts/{node}", func(*http.Request) error {
		a.Logins.Reset()
		return nil
	})
	a.Delete(rest.Administration, "/api/auth/attempts/{node}/source", func(*http.Request) error {
		a.Logins.ResetSources()
		return nil
	})
}

func ofProtocol(t protocol.Tally) counts {
	return counts{t.Protocol, t.Succeeded + t.Failed, t.Failed, t.Succeeded}
}
