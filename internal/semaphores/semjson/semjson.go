package semjson

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"fiveways/internal/broker"
	"fiveways/internal/core/semaphore"
	"fiveways/internal/semaphores"
)

// Names of the two orders.
const (
	Descending = "desc"
	Ascending  = "asc"
)

// Semaphore describes a semaphore.
type Semaphore struct {
	VHost           string `json:"vhost"`
	Key             string `json:"key"`
	Active          int    `json:"active"`
	TryRelease      int    `json:"try_release"`
	Order           string `json:"order"` // Descending or Ascending
	Lease           int64  `json:"lease"`
	Waiting         int    `json:"waiting"`
	Acquired        int    `json:"acquired"`
	TryReleaseAsked int    `json:"try_release_asked"`
}

// OfInfo describes a semaphore of a virtual host.
func OfInfo(vhost string, i *semaphores.Info) Semaphore {
	order := Descending
	if i.Config.Ascending {
		order = Ascending
	}
	return Semaphore{
		VHost: vhost, Key: i.Key, Active: i.Config.Active, TryRelease: i.Config.TryRelease, Order: order, Lease: i.Config.Lease,
		Waiting: i.Waiting, Acquired: i.Acquired, TryReleaseAsked: i.TryRelease,
	}
}

// Settings are what a request says of a semaphore. What is not there stays as it is, or at its default.
type Settings struct {
	Active     *int    `json:"active,omitempty"`
	TryRelease *int    `json:"try_release,omitempty"`
	Order      *string `json:"order,omitempty"` // Descending or Ascending
	Lease      *int64  `json:"lease,omitempty"`
}

// Of are the settings of the semaphore called key. Error: semaphores.ErrInvalid.
func (s Settings) Of(key string) (semaphores.Settings, error) {
	out := semaphores.Settings{Active: s.Active, TryRelease: s.TryRelease, Lease: s.Lease}
	if s.Order != nil {
		ascending := *s.Order == Ascending
		if !ascending && *s.Order != Descending {
			return out, Invalid(key, "order", "it is asc or desc")
		}
		out.Ascending = &ascending
	}
	return out, nil
}

// Invalid is the error that the manager has for a wrong value.
func Invalid(key, arg, detail string) error {
	return &broker.Error{Err: semaphores.ErrInvalid, Kind: "semaphore", Name: key, Arg: arg, Detail: detail}
}

// Time is a moment, in unix µs.
type Time int64

const timeFormat = `2006-01-02T15:04:05.000000Z`

// String is t in UTC.
func (t Time) String() string { return time.UnixMicro(int64(t)).UTC().Format(timeFormat) }

// MarshalText implements encoding.TextMarshaler.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Time) UnmarshalText(text []byte) error {
	at, err := time.Parse(time.RFC3339Nano, string(text))
	*t = Time(at.UnixMicro())
	return err
}

// Task is a task and where it stands. One that is not there has no status, and only its name and a null status are told of it.
type Task struct {
	Task     string  `json:"task"`
	Status   string  `json:"status"`
	Priority float64 `json:"priority"`
	Position int     `json:"position"` // among all tasks of the semaphore in their order, from 1
	Enqueued Time    `json:"enqueued"`
	Lease    int64   `json:"lease"`   // its own; 0: that of the semaphore
	Expires  *Time   `json:"expires"` // when a running task loses its place; nil: never
}

// OfState is the task called id. The manager's state of one that is not there need not have its name.
func OfState(id string, s *semaphores.State) Task {
	if !s.Found {
		return Task{Task: id}
	}
	t := Task{
		Task: id, Status: s.Status.String(), Priority: s.Priority, Position: s.Position, Enqueued: Time(s.Enqueued), Lease: s.Lease,
	}
	if s.Until != 0 {
		at := Time(s.Until * 1000)
		t.Expires = &at
	}
	return t
}

// OfStates are the tasks called ids, or of a page, whose states have their names: ids is nil.
func OfStates(ids []string, states []semaphores.State) []Task {
	all := make([]Task, len(states))
	for i := range states {
		id := states[i].ID
		if ids != nil {
			id = ids[i]
		}
		all[i] = OfState(id, &states[i])
	}
	return all
}

// JSONSchema says how a task looks in JSON.
func (Task) JSONSchema() map[string]any {
	text, count := map[string]any{"type": "string"}, map[string]any{"type": "integer"}
	return map[string]any{"type": "object", "required": []string{"task", "status"}, "properties": map[string]any{
		"task": text, "status": map[string]any{"type": []string{"string", "null"}}, "priority": map[string]any{"type": "number"}, "position": count,
		"enqueued": text, "lease": count, "expires": map[string]any{"type": []string{"string", "null"}},
	}}
}

// MarshalJSON implements json.Marshaler.
func (t Task) MarshalJSON() ([]byte, error) {
	if t.Status == "" {
		return json.Marshal(struct {
			Task   string  `json:"task"`
			Status *string `json:"status"`
		}{Task: t.Task})
	}
	type found Task
	return json.Marshal(found(t))
}

// Event is a transition: the body of its message.
type Event struct {
	Key      string  `json:"key"`
	Task     string  `json:"task"`
	Event    string  `json:"event"`
	Status   string  `json:"status"` // after it; "" when the task is not there any more
	Priority float64 `json:"priority"`
	Seq      uint64  `json:"seq"`
	Time     Time    `json:"time"`
}

// OfEvent is a transition as a watcher sees it.
func OfEvent(e *semaphores.Event) Event {
	status := ""
	if !e.Gone {
		status = e.Task.Status.String()
	}
	return Event{Key: e.Key, Task: e.Task.ID, Event: e.Event.String(), Status: status, Priority: e.Task.Priority, Seq: e.Seq, Time: Time(e.Time * 1000)}
}

// Only reads the names of the statuses that a list of tasks is to have. Error: semaphores.ErrInvalid.
func Only(key string, names []string) ([]semaphore.Status, error) {
	var only []semaphore.Status
	for _, name := range names {
		s, ok := semaphore.ParseStatus(name)
		if !ok {
			return nil, Invalid(key, "status", fmt.Sprintf("there is no status %q, but WAIT, ACQUIRED and TRY_RELEASE", name))
		}
		only = append(only, s)
	}
	return only, nil
}

// TaskID is the name of a task: in JSON a string, or a whole number, as the keys of databases are.
type TaskID string

// JSONSchema says how the name of a task looks in JSON.
func (TaskID) JSONSchema() map[string]any {
	return map[string]any{"type": []string{"string", "integer"}}
}

// UnmarshalJSON implements json.Unmarshaler.
func (id *TaskID) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, (*string)(id))
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return fmt.Errorf("a task is a string or a whole number, not %.40s", text)
	}
	*id = TaskID(strconv.FormatInt(n, 10))
	return nil
}

// Entry is a task to be enqueued.
type Entry struct {
	Task     TaskID   `json:"task"`
	Priority *float64 `json:"priority"`        // must be there
	Lease    int64    `json:"lease,omitempty"` // 0: that of the semaphore
}

// Of is the entry for the manager. Error: semaphores.ErrInvalid.
func (e Entry) Of(key string) (semaphores.Entry, error) {
	if e.Priority == nil {
		return semaphores.Entry{}, Invalid(key, "priority", fmt.Sprintf("that of task '%s' is missing", e.Task))
	}
	return semaphores.Entry{Task: string(e.Task), Priority: *e.Priority, Lease: e.Lease}, nil
}
