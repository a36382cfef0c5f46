package semjson

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/semaphores"
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

// OfInfo returns the JSON form of a semaphore.
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

// Settings are the settings in a request. Missing ones keep their value or default.
type Settings struct {
	Active     *int    `json:"active,omitempty"`
	TryRelease *int    `json:"try_release,omitempty"`
	Order      *string `json:"order,omitempty"` // Descending or Ascending
	Lease      *int64  `json:"lease,omitempty"`
}

// Of returns the settings for the semaphore called key. Error: semaphores.ErrInvalid.
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

// Invalid returns the manager's error for an invalid value.
func Invalid(key, arg, detail string) error {
	return &failure.Error{Err: semaphores.ErrInvalid, Kind: "semaphore", Name: key, Arg: arg, Detail: detail}
}

// Time is a time in unix µs.
type Time int64

const timeFormat = `2006-01-02T15:04:05.000000Z`

// String returns t in UTC.
func (t Time) String() string { return time.UnixMicro(int64(t)).UTC().Format(timeFormat) }

// MarshalText implements encoding.TextMarshaler.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Time) UnmarshalText(text []byte) error {
	at, err := time.Parse(time.RFC3339Nano, string(text))
	*t = Time(at.UnixMicro())
	return err
}

// Task is a task and its position. A task that does not exist has only its name and a null status.
type Task struct {
	Task     string  `json:"task"`
	Status   string  `json:"status"`
	Priority float64 `json:"priority"`
	Position int     `json:"position"` // among all tasks of the semaphore in rule order, from 1
	Enqueued Time    `json:"enqueued"`
	Lease    int64   `json:"lease"`   // its own; 0: that of the semaphore
	Expires  *Time   `json:"expires"` // when the lease of a running task ends; null: never
}

// OfState returns the JSON form of the task called id. The state of a missing task need not have
// its name.
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

// OfStates returns the tasks called ids. For a page ids is nil, since its states have names.
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

// JSONSchema returns the JSON schema of a task.
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
	Status   string  `json:"status"` // after the event; "" if the task no longer exists
	Priority float64 `json:"priority"`
	Seq      uint64  `json:"seq"`
	Time     Time    `json:"time"`
}

// OfEvent returns the JSON form of an event.
func OfEvent(e *semaphores.Event) Event {
	status := ""
	if !e.Gone {
		status = e.Task.Status.String()
	}
	return Event{Key: e.Key, Task: e.Task.ID, Event: e.Event.String(), Status: status, Priority: e.Task.Priority, Seq: e.Seq, Time: Time(e.Time * 1000)}
}

// Only parses the statuses that a list of tasks is limited to. Error: semaphores.ErrInvalid.
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

// TaskID is the name of a task. In JSON it is a string or an integer, like database keys.
type TaskID string

// JSONSchema returns the JSON schema of a task's name.
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

// Entry is a task to enqueue.
type Entry struct {
	Task     TaskID   `json:"task"`
	Priority *float64 `json:"priority"`        // required
	Lease    int64    `json:"lease,omitempty"` // 0: that of the semaphore
}

// Of returns the entry for the manager. Error: semaphores.ErrInvalid.
func (e Entry) Of(key string) (semaphores.Entry, error) {
	if e.Priority == nil {
		return semaphores.Entry{}, Invalid(key, "priority", fmt.Sprintf("that of task '%s' is missing", e.Task))
	}
	return semaphores.Entry{Task: string(e.Task), Priority: *e.Priority, Lease: e.Lease}, nil
}
