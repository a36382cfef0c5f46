package semaphore

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"fiveways.dev/fiveways/internal/core/semaphore"
)

// side is an implementation that runs scripts. All its errors are those of this package.
type side interface {
	create(key string, s settings) (active, tryRelease int, err error)
	update(key string, s settings) error
	drop(key string, ifEmpty bool) (there bool, err error)
	enqueue(key string, entries []semaphore.Task) ([]semaphore.Status, error)
	release(key string, tasks []string) (int, error)
	status(key, task string) (status semaphore.Status, there bool, err error)
	tasks(key string, only *semaphore.Status) ([]semaphore.Task, error)
	events() []event // events since the last call
}

var (
	errNotFound = errors.New("not found")
	errInvalid  = errors.New("invalid")
	errNotEmpty = errors.New("not empty")
)

// settings are the given settings. nil keeps the current value.
type settings struct{ active, tryRelease *int }

// event is an event as a consumer sees it.
type event struct {
	Key      string  `json:"key"`
	Task     string  `json:"task"`
	Event    string  `json:"event"`
	Status   string  `json:"status"`
	Priority float64 `json:"priority"`
	Seq      uint64  `json:"seq"`
}

func (e event) String() string {
	return strings.Join(strings.Fields(fmt.Sprint(e.Seq, " ", e.Event, " ", e.Task, " ", e.Status, " ", e.Priority)), " ")
}

// playAll runs testdata on a side. fresh returns a side without semaphores.
func playAll(t *testing.T, fresh func(t *testing.T) side) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		to := fresh(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return play(t, to, d) })
	})
}

// play runs a step and returns the answer.
func play(t *testing.T, to side, d *datadriven.TestData) string {
	if len(d.CmdArgs) == 0 {
		d.Fatalf(t, "no key")
	}
	key, args := d.CmdArgs[0].Key, d.CmdArgs[1:]
	var out strings.Builder
	err := answer(&out, to, d.Cmd, key, args)
	if err != nil {
		fmt.Fprintf(&out, "error: %v\n", err)
	}
	for _, e := range to.events() {
		if fmt.Fprintf(&out, "> %v\n", e); e.Key != key {
			t.Errorf("an event of %q: %v", e.Key, e)
		}
	}
	if out.Len() == 0 {
		return "ok\n"
	}
	return out.String()
}

func answer(out *strings.Builder, to side, verb, key string, args []datadriven.CmdArg) error {
	switch verb {
	case "create":
		active, tryRelease, err := to.create(key, settingsOf(args))
		if err == nil {
			fmt.Fprintf(out, "active=%d try_release=%d\n", active, tryRelease)
		}
		return err
	case "update":
		return to.update(key, settingsOf(args))
	case "drop":
		there, err := to.drop(key, len(args) > 0)
		if err == nil {
			fmt.Fprintln(out, there)
		}
		return err
	case "enqueue":
		return enqueue(out, to, key, args)
	case "release":
		n, err := to.release(key, names(args))
		if err == nil {
			fmt.Fprintln(out, n)
		}
		return err
	case "status":
		return statuses(out, to, key, names(args))
	case "tasks":
		return tasks(out, to, key, names(args))
	}
	return fmt.Errorf("no such verb: %s", verb)
}

func enqueue(out *strings.Builder, to side, key string, args []datadriven.CmdArg) error {
	var entries []semaphore.Task
	for _, a := range args {
		priority, err := strconv.ParseFloat(a.Vals[0], 64)
		if err != nil {
			return err
		}
		entries = append(entries, semaphore.Task{ID: a.Key, Priority: priority})
	}
	statuses, err := to.enqueue(key, entries)
	for i, st := range statuses {
		fmt.Fprintf(out, "%s %v\n", entries[i].ID, st)
	}
	return err
}

func statuses(out *strings.Builder, to side, key string, ids []string) error {
	for _, id := range ids {
		switch st, there, err := to.status(key, id); {
		case err != nil:
			return err
		case there:
			fmt.Fprintf(out, "%s %v\n", id, st)
		default:
			fmt.Fprintf(out, "%s none\n", id)
		}
	}
	return nil
}

func tasks(out *strings.Builder, to side, key string, args []string) error {
	var only *semaphore.Status
	if len(args) > 0 {
		st, ok := semaphore.ParseStatus(args[0])
		if !ok {
			return fmt.Errorf("no such status: %s", args[0])
		}
		only = &st
	}
	all, err := to.tasks(key, only)
	for _, t := range all {
		fmt.Fprintf(out, "%s %v %v\n", t.ID, t.Priority, t.Status)
	}
	return err
}

func settingsOf(args []datadriven.CmdArg) (s settings) {
	for _, a := range args {
		n, err := strconv.Atoi(a.Vals[0])
		if err != nil {
			panic(err)
		}
		switch a.Key {
		case "active":
			s.active = &n
		case "try_release":
			s.tryRelease = &n
		}
	}
	return s
}

func names(args []datadriven.CmdArg) (all []string) {
	for _, a := range args {
		all = append(all, a.Key)
	}
	return slices.Clip(all)
}

// must fails the test at once if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
