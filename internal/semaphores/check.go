package semaphores

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/semaphore"
)

// maxNumber bounds active and try_release, like PostgreSQL's int.
const maxNumber = math.MaxInt32

// maxLease bounds leases: a hundred years, in ms.
const maxLease = 100 * 366 * 24 * 3600 * 1000

func invalid(kind, name, arg, detail string) error {
	return &failure.Error{Err: ErrInvalid, Kind: kind, Name: shorten(name), Arg: arg, Detail: detail}
}

func notFound(s *broker.Session, key string) error {
	return &failure.Error{Err: ErrNotFound, Kind: "semaphore", Name: key, VHost: s.VHost(), User: s.User}
}

func noTask(s *broker.Session, task string) error {
	return &failure.Error{Err: ErrNoTask, Kind: "task", Name: task, VHost: s.VHost(), User: s.User}
}

// shorten shortens a name for error texts.
func shorten(name string) string {
	name = strings.ToValidUTF8(name, "?")
	if utf8.RuneCountInString(name) > 80 {
		return string([]rune(name)[:80]) + "…"
	}
	return name
}

// CheckKey validates the key of a semaphore. Errors: ErrInvalid.
func CheckKey(key string) error {
	if strings.Contains(key, "/") {
		return invalid("semaphore", key, "key", "it has a '/'")
	}
	if why := wrong(key, MaxKeyBytes); why != "" {
		return invalid("semaphore", key, "key", why)
	}
	return nil
}

// CheckTask validates the name of a task. Errors: ErrInvalid.
func CheckTask(task string) error {
	if why := wrong(task, MaxTaskBytes); why != "" {
		return invalid("task", task, "task", why)
	}
	return nil
}

// wrong returns what is wrong with a name, or "" if it is valid.
func wrong(name string, most int) string {
	switch {
	case name == "":
		return "it is empty"
	case len(name) > most:
		return fmt.Sprintf("it is longer than %d bytes", most)
	case !utf8.ValidString(name):
		return "it is not UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "it has a control character"
	}
	return ""
}

// checkTasks validates the tasks of a change. Errors: ErrInvalid, failure.ErrTooLarge.
func checkTasks(key string, tasks []string) error {
	if err := checkCount(key, len(tasks)); err != nil {
		return err
	}
	for _, task := range tasks {
		if err := CheckTask(task); err != nil {
			return err
		}
	}
	return nil
}

func checkCount(key string, n int) error {
	if n > MaxEntries {
		return &failure.Error{Err: failure.ErrTooLarge, Kind: "semaphore", Name: key, Detail: fmt.Sprintf("more than %d tasks at once", MaxEntries)}
	}
	return nil
}

func (e *Entry) check() error {
	switch {
	case math.IsNaN(e.Priority) || math.IsInf(e.Priority, 0):
		return invalid("task", e.Task, "priority", "it is not a finite number")
	case e.Lease < 0 || e.Lease > maxLease:
		return invalid("task", e.Task, "lease", "it is negative or longer than a hundred years")
	}
	return CheckTask(e.Task)
}

func (o *Settings) check(key string) error {
	for _, n := range []struct {
		arg   string
		value *int
	}{{"active", o.Active}, {"try_release", o.TryRelease}} {
		switch {
		case n.value == nil:
		case *n.value < 0:
			return invalid("semaphore", key, n.arg, "it is negative")
		case *n.value > maxNumber:
			return invalid("semaphore", key, n.arg, fmt.Sprintf("it is more than %d", maxNumber))
		}
	}
	if o.Lease != nil && (*o.Lease < 0 || *o.Lease > maxLease) {
		return invalid("semaphore", key, "lease", "it is negative or longer than a hundred years")
	}
	return nil
}

// apply returns c with the settings applied.
func (o *Settings) apply(c semaphore.Config) semaphore.Config {
	if o.Active != nil {
		c.Active = *o.Active
	}
	if o.TryRelease != nil {
		c.TryRelease = *o.TryRelease
	}
	if o.Ascending != nil {
		c.Ascending = *o.Ascending
	}
	if o.Lease != nil {
		c.Lease = *o.Lease
	}
	return c
}
