package overview

import (
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// healthy is the answer of a health check that passed.
type healthy struct {
	Status   string `json:"status"` // ok
	Reason   string `json:"reason,omitempty"`
	Port     int    `json:"port,omitempty"`
	Protocol string `json:"protocol,omitempty"`
}

// checked describes a health check, which answers 503 if it fails.
func checked(summary string) rest.About {
	return rest.About{Summary: summary, Answers: map[int]any{200: healthy{}, 503: object{}}}
}

// about describes the routes of this package for the OpenAPI document.
var about = map[string]rest.About{
	"GET /api/overview":            {Summary: "What the broker is and does, as far as the caller may see it", Out: object{}, Query: rest.Histories},
	"GET /api/attention":           {Summary: "What an operator should look at now: alarms, growing queues, queues without a consumer, dead letters and the like; nothing when all is well", Out: Attention{}},
	"GET /api/audit":               {Summary: "The last 1,000 administrative acts since the start, the newest first", Out: protocol.AuditLine{}, Listing: true},
	"GET /api/listeners":           {Summary: "Which protocols listen where, with a command to try each", Out: []way{}},
	"GET /api/nodes":               {Summary: "The nodes of the cluster, by number; one that is alone is the only one", Out: []object{}, Query: rest.Histories},
	"GET /api/nodes/{node}":        {Summary: "One node", Out: object{}, Query: rest.Histories},
	"GET /api/nodes/{node}/memory": {Summary: "What the node has memory for", Out: object{}},

	"GET /api/connections":                    {Summary: "The connections that the caller may see", Out: connection{}, Listing: true, Query: rest.Histories},
	"GET /api/vhosts/{vhost}/connections":     {Summary: "The connections to a virtual host", Out: connection{}, Listing: true, Query: rest.Histories},
	"GET /api/connections/username/{user}":    {Summary: "The connections of a user", Out: connection{}, Listing: true, Query: rest.Histories},
	"DELETE /api/connections/username/{user}": {Summary: "Close the connections of a user; the header X-Reason is the reason sent to the clients"},
	"GET /api/connections/{name}":             {Summary: "One connection", Out: connection{}, Query: rest.Histories},
	"DELETE /api/connections/{name}":          {Summary: "Close a connection; the header X-Reason is the reason sent to the client"},
	"GET /api/connections/{name}/{part}":      {Summary: "The channels of a connection: the part is channels", Out: channel{}, Listing: true, Query: rest.Histories},
	"GET /api/channels":                       {Summary: "The channels that the caller may see", Out: channel{}, Listing: true, Query: rest.Histories},
	"GET /api/vhosts/{vhost}/channels":        {Summary: "The channels to a virtual host", Out: channel{}, Listing: true, Query: rest.Histories},
	"GET /api/channels/{name}":                {Summary: "One channel, with its consumers", Out: oneChannel{}, Query: rest.Histories},
	"GET /api/consumers":                      {Summary: "The consumers that the caller may see", Out: rest.Consumer{}, Listing: true},
	"GET /api/consumers/{vhost}":              {Summary: "The consumers of a virtual host", Out: rest.Consumer{}, Listing: true},

	"GET /api/healthchecks/node":                                    {Summary: "Whether the node is well, as older clients ask", Out: healthy{}},
	"GET /api/healthchecks/node/{node}":                             {Summary: "The same, by name", Out: healthy{}},
	"GET /api/health/checks/alarms":                                 checked("Whether nothing holds publishers back"),
	"GET /api/health/checks/local-alarms":                           checked("The same for this node"),
	"GET /api/health/checks/certificate-expiration/{within}/{unit}": checked("Whether the certificates are still valid after this number of days, weeks, months or years"),
	"GET /api/health/checks/port-listener/{port}":                   checked("Whether something listens on a port"),
	"GET /api/health/checks/protocol-listener/{protocol...}":        checked("Whether a protocol is served"),
	"GET /api/health/checks/virtual-hosts":                          checked("Whether all virtual hosts run"),
	"GET /api/health/checks/node-is-mirror-sync-critical":           checked("Whether the node can be stopped: no queue is mirrored"),
	"GET /api/health/checks/node-is-quorum-critical":                checked("Whether the node can be stopped, and the others are still a majority"),
	"GET /api/health/checks/ready-to-serve-clients":                 checked("Whether the log takes what is written"),
	"GET /api/health/checks/below-node-connection-limit":            checked("Whether there is room for another connection"),
	"GET /api/health/checks/is-in-service":                          checked("The same as ready-to-serve-clients"),
}
