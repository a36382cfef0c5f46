package messages

import (
	"time"

	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

const (
	defaultPage = 50
	largestPage = 1000
	shownBytes  = 4 << 10 // limit of a body in a listing
)

// api serves the paths of this package.
type api struct {
	*rest.API
	tasks   *tasks
	streams *streams
}

// Register adds the paths to an API.
func Register(on *rest.API) {
	a := &api{API: on, tasks: newTasks(), streams: newStreams()}
	a.Describe(about)
	a.browsing()
	a.single()
	a.schedules()
	a.transfers()
	a.rabbitmq()
	a.producing()
	a.consuming()
}

// timeText formats a time (unix ms) as in RFC 3339.
func timeText(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
