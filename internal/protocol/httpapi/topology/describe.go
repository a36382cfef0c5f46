package topology

import (
	"slices"

	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// ofQueues are the query parameters of listings of queues.
var ofQueues = append(slices.Clone(rest.Histories),
	rest.Parameter{Name: "disable_stats", About: "only what queues are called and how they were declared", Type: "boolean"},
	rest.Parameter{Name: "enable_queue_totals", About: "with disable_stats: with message counts", Type: "boolean"},
)

// Query parameters of deletions.
var (
	ifUnused = rest.Parameter{Name: "if-unused", About: "only if it is not in use", Type: "boolean"}
	ifEmpty  = rest.Parameter{Name: "if-empty", About: "only while it has no messages", Type: "boolean"}
)

// about describes the routes of this package for the OpenAPI document.
var about = map[string]rest.About{
	"GET /api/queues":                          {Summary: "The queues that the caller may see", Out: queueState{}, Listing: true, Query: ofQueues},
	"GET /api/queues/detailed":                 {Summary: "The queues that the caller may see", Out: queueState{}, Listing: true, Query: ofQueues},
	"GET /api/queues/{vhost}":                  {Summary: "The queues of a virtual host", Out: queueState{}, Listing: true, Query: ofQueues},
	"GET /api/queues/{vhost}/{queue}":          {Summary: "One queue, with its consumers", Out: queueDetails{}, Query: rest.Histories},
	"PUT /api/queues/{vhost}/{queue}":          {Summary: "Declare a queue", In: queueChange{}},
	"DELETE /api/queues/{vhost}/{queue}":       {Summary: "Delete a queue", Query: []rest.Parameter{ifUnused, ifEmpty}},
	"POST /api/queues/{vhost}/{queue}/actions": {Summary: "RabbitMQ's sync and cancel_sync, which have nothing to do here", In: action{}},
	"GET /api/queues/{vhost}/{queue}/bindings": {Summary: "The bindings of a queue", Out: binding{}, Listing: true},
	"POST /api/rebalance/queues":               {Summary: "RabbitMQ's rebalancing of leaders, which has nothing to do here"},

	"GET /api/exchanges":                                                   {Summary: "The exchanges that the caller may see", Out: exchange{}, Listing: true, Query: rest.Histories},
	"GET /api/exchanges/{vhost}":                                           {Summary: "The exchanges of a virtual host", Out: exchange{}, Listing: true, Query: rest.Histories},
	"GET /api/exchanges/{vhost}/{exchange}":                                {Summary: "One exchange", Out: exchangeDetails{}, Query: rest.Histories},
	"PUT /api/exchanges/{vhost}/{exchange}":                                {Summary: "Declare an exchange", In: exchangeChange{}},
	"DELETE /api/exchanges/{vhost}/{exchange}":                             {Summary: "Delete an exchange", Query: []rest.Parameter{ifUnused}},
	"GET /api/exchanges/{vhost}/{exchange}/bindings/source":                {Summary: "The bindings from an exchange", Out: binding{}, Listing: true},
	"GET /api/exchanges/{vhost}/{exchange}/bindings/destination":           {Summary: "The bindings to an exchange", Out: binding{}, Listing: true},
	"GET /api/bindings":                                                    {Summary: "The bindings that the caller may see", Out: binding{}, Listing: true},
	"GET /api/bindings/{vhost}":                                            {Summary: "The bindings of a virtual host", Out: binding{}, Listing: true},
	"GET /api/bindings/{vhost}/e/{source}/q/{destination}":                 {Summary: "The bindings from an exchange to a queue", Out: binding{}, Listing: true},
	"POST /api/bindings/{vhost}/e/{source}/q/{destination}":                {Summary: "Bind a queue to an exchange; the header Location says where the binding is", In: bindingChange{}, Answers: created},
	"GET /api/bindings/{vhost}/e/{source}/q/{destination}/{properties}":    {Summary: "One binding from an exchange to a queue, by its properties_key", Out: binding{}},
	"DELETE /api/bindings/{vhost}/e/{source}/q/{destination}/{properties}": {Summary: "Unbind a queue from an exchange"},
	"GET /api/bindings/{vhost}/e/{source}/e/{destination}":                 {Summary: "The bindings from one exchange to another", Out: binding{}, Listing: true},
	"POST /api/bindings/{vhost}/e/{source}/e/{destination}":                {Summary: "Bind an exchange to another; the header Location says where the binding is", In: bindingChange{}, Answers: created},
	"GET /api/bindings/{vhost}/e/{source}/e/{destination}/{properties}":    {Summary: "One binding from one exchange to another, by its properties_key", Out: binding{}},
	"DELETE /api/bindings/{vhost}/e/{source}/e/{destination}/{properties}": {Summary: "Unbind an exchange from another"},

	"GET /api/parameters":                               {Summary: "The parameters of all virtual hosts that the caller may see", Out: []parameter{}},
	"GET /api/parameters/{component}":                   {Summary: "The parameters of a component", Out: []parameter{}},
	"GET /api/parameters/{component}/{vhost}":           {Summary: "The parameters of a component in a virtual host", Out: []parameter{}},
	"GET /api/parameters/{component}/{vhost}/{name}":    {Summary: "One parameter", Out: parameter{}},
	"PUT /api/parameters/{component}/{vhost}/{name}":    {Summary: "Set a parameter", In: parameterChange{}},
	"DELETE /api/parameters/{component}/{vhost}/{name}": {Summary: "Delete a parameter"},
	"GET /api/global-parameters":                        {Summary: "The parameters of the whole broker", Out: []globalParameter{}},
	"GET /api/global-parameters/{name}":                 {Summary: "One parameter of the whole broker", Out: globalParameter{}},
	"PUT /api/global-parameters/{name}":                 {Summary: "Set a parameter of the whole broker", In: parameterChange{}},
	"DELETE /api/global-parameters/{name}":              {Summary: "Delete a parameter of the whole broker"},

	"GET /api/aliveness-test/{vhost}":                  {Summary: "Send a message through a queue of its own and take it out again", Out: aliveness{}},
	"GET /api/extensions":                              {Summary: "Plugins of RabbitMQ's page, of which there are none", Out: []any{}},
	"GET /api/shovels":                                 {Summary: "The shovels and how they are", Out: []shovel{}},
	"GET /api/shovels/{vhost}":                         {Summary: "The shovels of a virtual host", Out: []shovel{}},
	"GET /api/shovels/vhost/{vhost}/{name}":            {Summary: "The shovels of a virtual host, when there is this one", Out: []shovel{}},
	"DELETE /api/shovels/vhost/{vhost}/{name}":         {Summary: "Delete a shovel"},
	"DELETE /api/shovels/vhost/{vhost}/{name}/restart": {Summary: "Have a shovel begin anew"},
	"GET /api/federation-links":                        {Summary: "Links of RabbitMQ's federation, of which there are none", Out: []any{}},
	"GET /api/federation-links/{vhost}":                {Summary: "Links of RabbitMQ's federation, of which there are none", Out: []any{}},
	"GET /api/cluster-name":                            {Summary: "What the broker is called", Out: name{}},
	"PUT /api/cluster-name":                            {Summary: "Call the broker something else", In: name{}, Answers: map[int]any{204: nil}},
	"GET /api/feature-flags":                           {Summary: "What RabbitMQ can have turned off, and is on here", Out: []featureFlag{}},
	"PUT /api/feature-flags/{name}/enable":             {Summary: "Turn on what is on", Answers: map[int]any{204: nil}},
	"GET /api/deprecated-features":                     {Summary: "What RabbitMQ wants to be rid of: nothing here", Out: []any{}},
	"GET /api/deprecated-features/used":                {Summary: "What is used of it: nothing", Out: []any{}},
}

// created are the answers of a PUT: 201 for a new object, otherwise 204.
var created = map[int]any{201: nil}
