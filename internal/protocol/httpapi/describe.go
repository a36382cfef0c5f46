package httpapi

import (
	"net/http"

	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/semaphores/semjson"
)

// Query parameters of the semaphore paths.
var (
	waitParameter  = rest.Parameter{Name: "wait", About: "how long to wait until the task runs, such as 30s, at most 10m [0s]"}
	taskParameter  = rest.Parameter{Name: "task", About: "only events of this task"}
	limitParameter = rest.Parameter{Name: "limit", About: "maximum number of results, up to 1000 [50]", Type: "integer"}
	ofSemaphores   = []rest.Parameter{
		{Name: "contains", About: "only semaphores whose names contain this"}, limitParameter, {Name: "after", About: "what a page before gave as next"},
	}
)

// eventStream is the media type of Server-Sent Events.
const eventStream = "text/event-stream"

// about describes the routes of this package for the OpenAPI document.
var about = map[string]rest.About{
	"GET /api/semaphores":                  {Summary: "The semaphores that the caller may read", Out: SemaphoreList{}, Query: ofSemaphores},
	"GET /api/semaphores/{vhost}":          {Summary: "The semaphores of a virtual host", Out: SemaphoreList{}, Query: ofSemaphores},
	"GET /api/semaphores/{vhost}/{key}":    {Summary: "One semaphore", Out: semjson.Semaphore{}},
	"PUT /api/semaphores/{vhost}/{key}":    {Summary: "Make a semaphore, or change one", In: semjson.Settings{}},
	"DELETE /api/semaphores/{vhost}/{key}": {Summary: "Delete a semaphore", Query: []rest.Parameter{{Name: "if-empty", About: "only without tasks", Type: "boolean"}}},
	"GET /api/semaphores/{vhost}/{key}/tasks": {Summary: "Tasks of a semaphore, the most urgent first", Out: TaskPage{}, Query: []rest.Parameter{
		{Name: "task", About: "tell of this one; may be given more than once"}, {Name: "from", About: "the position to begin at [1]", Type: "integer"},
		{Name: "status", About: "only these, with commas: WAIT, ACQUIRED, TRY_RELEASE"}, limitParameter,
	}},
	"POST /api/semaphores/{vhost}/{key}/tasks":          {Summary: "Enqueue tasks, or change their priorities", In: Entries{}, Out: Enqueued{}},
	"POST /api/semaphores/{vhost}/{key}/tasks/release":  {Summary: "Take tasks out, running or not", In: TaskNames{}, Out: Released{}},
	"POST /api/semaphores/{vhost}/{key}/tasks/renew":    {Summary: "Begin the leases of tasks anew", In: TaskNames{}, Out: Renewed{}},
	"GET /api/semaphores/{vhost}/{key}/tasks/{task}":    {Summary: "One task", Out: semjson.Task{}, Query: []rest.Parameter{waitParameter}},
	"DELETE /api/semaphores/{vhost}/{key}/tasks/{task}": {Summary: "Release a task"},
	"PUT /api/semaphores/{vhost}/{key}/tasks/{task}": {Summary: "Enqueue a task, or change its priority", In: TaskChange{}, Query: []rest.Parameter{waitParameter},
		Answers: map[int]any{http.StatusCreated: semjson.Task{}, http.StatusOK: semjson.Task{}}},
	"GET /api/semaphores/{vhost}/{key}/events": {Summary: "What happens to a semaphore, as Server-Sent Events", Out: "", Type: eventStream, Query: []rest.Parameter{taskParameter}},
	"GET /api/semaphore-events/{vhost}": {Summary: "What happens to the semaphores of a virtual host, as Server-Sent Events", Out: "", Type: eventStream,
		Query: []rest.Parameter{{Name: "prefix", About: "only semaphores whose names begin so"}, taskParameter}},

	"GET /api/backup":   {Summary: "A copy of the data folder of the running broker", Out: "", Type: "application/x-tar"},
	"GET /debug/pprof/": {Summary: "Profiles of Go: a list of them, and below it each", Out: "", Type: "text/html"},
	"GET /debug/pprof/profile": {Summary: "Where the time goes", Out: "", Type: profileType, Query: []rest.Parameter{
		{Name: "seconds", About: "for how long [30]", Type: "integer"},
	}},
	"GET /debug/pprof/trace": {Summary: "What the program does", Out: "", Type: profileType, Query: []rest.Parameter{
		{Name: "seconds", About: "for how long [1]", Type: "integer"},
	}},
}

const profileType = "application/octet-stream"
