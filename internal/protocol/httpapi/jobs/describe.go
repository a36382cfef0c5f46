package jobs

import (
	"net/http"

	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// about describes the routes of this package for the OpenAPI document.
var about = map[string]rest.About{
	"GET /api/jobs": {Summary: "The queues that are used for jobs, and how many each has", Out: Queues{}},
	"GET /api/jobs/{vhost}/{queue}": {Summary: "The jobs of a queue, a page at a time", Out: Page{}, Query: []rest.Parameter{
		{Name: "state", About: "only jobs in this state"}, {Name: "limit", About: "maximum number of results, up to 1000 [50]", Type: "integer"},
		{Name: "after", About: "what a page before gave as next"},
	}},
	"POST /api/jobs/{vhost}/{queue}": {Summary: "Enqueue a job, or change one that is queued", In: Enqueue{},
		Answers: map[int]any{http.StatusCreated: Enqueued{}, http.StatusOK: Enqueued{}}},
	"POST /api/jobs/{vhost}/{queue}/retry": {Summary: "End the backoff of all jobs of a queue: they are ready now", Out: Changed{}},
	"DELETE /api/jobs/{vhost}/{queue}": {Summary: "Take all jobs in a state out of a queue", Out: Changed{}, Query: []rest.Parameter{
		{Name: "state", About: "queued or queued-with-backoff; required"},
	}},
	"GET /api/jobs/{vhost}/{queue}/{id}": {Summary: "What is known of a job", Out: Job{}},
	"DELETE /api/jobs/{vhost}/{queue}/{id}": {Summary: "Take a job out of its queue", Query: []rest.Parameter{
		{Name: "force", About: "also if a worker has it", Type: "boolean"},
	}},
	"POST /api/jobs/{vhost}/{queue}/{id}/retry": {Summary: "End the backoff of a job: it is ready now"},
}
