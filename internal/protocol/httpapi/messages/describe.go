package messages

import (
	"net/http"

	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// Query parameters.
var (
	leaseParameter = rest.Parameter{Name: "lease", About: "how long each message is the client's, such as 60s, at most 168h [1m]"}
	limitParameter = rest.Parameter{Name: "limit", About: "maximum number of results, up to 1000 [50]", Type: "integer"}
)

// publishing is the body of RabbitMQ's publish.
type publishing struct {
	Properties map[string]any `json:"properties"`
	RoutingKey string         `json:"routing_key"`
	Payload    string         `json:"payload"`
	Encoding   string         `json:"payload_encoding"`
}

// getRequest is the body of RabbitMQ's get.
type getRequest struct {
	Count    int    `json:"count"`
	AckMode  string `json:"ackmode"`
	Encoding string `json:"encoding"`
	Truncate int    `json:"truncate"`
}

// about describes the routes of this package for the OpenAPI document.
var about = map[string]rest.About{
	"GET /api/queues/{vhost}/{queue}/messages": {Summary: "Messages of a queue, which stay there as they are", Out: Page{}, Query: []rest.Parameter{
		{Name: "state", About: "only those that are ready, unacked, scheduled or blocked"}, {Name: "filter", About: "only those that match this selector"},
		{Name: "contains", About: "only those that contain this text, in the body or the properties"}, limitParameter, {Name: "after", About: "what a page before gave as next"},
	}},
	"DELETE /api/queues/{vhost}/{queue}/messages": {Summary: "Delete messages that are ready", Out: Changed{}, Query: []rest.Parameter{
		{Name: "filter", About: "those that match this selector; required"},
	}},
	"GET /api/queues/{vhost}/{queue}/messages/{id}":       {Summary: "One message, whole", Out: Message{}},
	"DELETE /api/queues/{vhost}/{queue}/messages/{id}":    {Summary: "Delete one message"},
	"POST /api/queues/{vhost}/{queue}/messages/{id}/move": {Summary: "Move one message to another queue", In: Target{}},

	"POST /api/queues/{vhost}/{queue}/messages": {Summary: "Publish a message to a queue; the answer leaves when it is on disk", In: Outgoing{}, Raw: "*/*",
		Answers: map[int]any{http.StatusCreated: Published{}}, Query: []rest.Parameter{
			{Name: "raw", About: "the body is the message itself, as it is with a Content-Type other than JSON", Type: "boolean"},
		}},
	"POST /api/queues/{vhost}/{queue}/messages/take": {Summary: "Take messages for a while", Out: Taken{}, Query: []rest.Parameter{
		{Name: "count", About: "maximum number of messages, up to 1000 [1]", Type: "integer"}, leaseParameter,
		{Name: "wait", About: "how long to wait for the first, such as 30s, at most 10m [0s]"},
	}},
	"POST /api/queues/{vhost}/{queue}/messages/ack":    {Summary: "Have done with messages that were taken", In: Tokens{}, Out: Settled{}},
	"POST /api/queues/{vhost}/{queue}/messages/nack":   {Summary: "Requeue messages that were taken, or reject them for good", In: Tokens{}, Out: Settled{}},
	"POST /api/queues/{vhost}/{queue}/messages/extend": {Summary: "Begin the leases of messages anew", In: Tokens{}, Out: Settled{}},
	"GET /api/queues/{vhost}/{queue}/stream": {Summary: "Take messages as they come, as Server-Sent Events", Out: "", Type: "text/event-stream", Query: []rest.Parameter{
		{Name: "prefetch", About: "maximum number of unsettled messages, up to 1000 [10]", Type: "integer"}, leaseParameter,
	}},

	"GET /api/queues/{vhost}/{name}/scheduled":               {Summary: "Messages of a queue that wait for their time", Out: Schedule{}, Query: ofSchedules},
	"PUT /api/queues/{vhost}/{name}/scheduled/{id}":          {Summary: "Give messages that wait another time, by their message id", In: DueTime{}, Answers: changed},
	"DELETE /api/queues/{vhost}/{name}/scheduled/{id}":       {Summary: "Cancel messages that wait for their time, by their message id", Answers: changed},
	"PUT /api/queues/{vhost}/{name}/scheduled/at/{id}":       {Summary: "Give the message that waits at a place another time", In: DueTime{}, Answers: changed},
	"DELETE /api/queues/{vhost}/{name}/scheduled/at/{id}":    {Summary: "Cancel the message that waits at a place", Answers: changed},
	"GET /api/exchanges/{vhost}/{name}/scheduled":            {Summary: "Messages of an exchange that wait for their time", Out: Schedule{}, Query: ofSchedules},
	"PUT /api/exchanges/{vhost}/{name}/scheduled/{id}":       {Summary: "Give messages that wait in an exchange another time, by their message id", In: DueTime{}, Answers: changed},
	"DELETE /api/exchanges/{vhost}/{name}/scheduled/{id}":    {Summary: "Cancel messages that wait in an exchange, by their message id", Answers: changed},
	"PUT /api/exchanges/{vhost}/{name}/scheduled/at/{id}":    {Summary: "Give the message that waits at a place in an exchange another time", In: DueTime{}, Answers: changed},
	"DELETE /api/exchanges/{vhost}/{name}/scheduled/at/{id}": {Summary: "Cancel the message that waits at a place in an exchange", Answers: changed},

	"POST /api/queues/{vhost}/{queue}/redrive":       {Summary: "Send dead letters back to where they died", In: Transfer{}, Answers: begun},
	"POST /api/queues/{vhost}/{queue}/messages/move": {Summary: "Move messages to another queue", In: Transfer{}, Answers: begun},
	"GET /api/queues/{vhost}/{queue}/tasks":          {Summary: "What moves messages out of a queue, or did", Out: []Task{}},
	"GET /api/tasks/{id}":                            {Summary: "How far a task has come", Out: Task{}},
	"DELETE /api/tasks/{id}":                         {Summary: "Stop a task"},

	"POST /api/exchanges/{vhost}/{exchange}/publish": {Summary: "Publish a message to an exchange", In: publishing{}, Out: Routed{}},
	"POST /api/queues/{vhost}/{queue}/get":           {Summary: "Get messages as RabbitMQ's management does: they are gone, or redelivered", In: getRequest{}, Out: []Got{}},
	"DELETE /api/queues/{vhost}/{queue}/contents":    {Summary: "Purge a queue: what is ready is gone"},
}

var (
	changed     = map[int]any{http.StatusOK: Changed{}}
	begun       = map[int]any{http.StatusAccepted: Task{}}
	ofSchedules = []rest.Parameter{limitParameter, {Name: "from", About: "what a page before gave as next"}}
)
