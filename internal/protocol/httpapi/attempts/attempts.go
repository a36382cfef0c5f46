package attempts

import (
	"net/http"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// counts are numbers of logins by protocol. The names are RabbitMQ's.
type counts struct {
	Protocol  string `json:"protocol"`
	All       uint64 `json:"auth_attempts"`
	Failed    uint64 `json:"auth_attempts_failed"`
	Succeeded uint64 `json:"auth_attempts_succeeded"`
}

// sourceCounts are numbers of logins of one user from one address over one protocol.
type sourceCounts struct {
	Address string `json:"remote_address"`
	User    string `json:"username"`
	counts
}

// Register adds the paths to an API. They exist only for the node called node.
func Register(a *rest.API, node string) {
	here := func(r *http.Request) error {
		if rest.Name(r, "node") != node {
			return rest.ErrNotThere
		}
		return nil
	}
	a.Describe(about)
	a.Get(rest.Monitoring, "/api/auth/attempts/{node}", func(r *http.Request) (any, error) {
		return rest.List(a.Logins.Attempts(), ofProtocol), here(r)
	})
	a.Get(rest.Monitoring, "/api/auth/attempts/{node}/source", func(r *http.Request) (any, error) {
		return rest.List(a.Logins.Sources(), func(t protocol.Tally) sourceCounts { return sourceCounts{t.Address, t.User, ofProtocol(t)} }), here(r)
	})
	forget := func(path string, reset func()) {
		a.Delete(rest.Administration, path, func(r *http.Request) error {
			err := here(r)
			if err == nil {
				reset()
			}
			return err
		})
	}
	forget("/api/auth/attempts/{node}", a.Logins.Reset)
	forget("/api/auth/attempts/{node}/source", a.Logins.ResetSources)
}

func ofProtocol(t protocol.Tally) counts {
	return counts{t.Protocol, t.Succeeded + t.Failed, t.Failed, t.Succeeded}
}
