package semjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/semaphores"
)

// The JSON forms are those of docs/features/semaphores.md.
func TestForms(t *testing.T) {
	info := semaphores.Info{Key: "crowd", Config: semaphore.Config{Active: 1000, TryRelease: 900, Ascending: true, Lease: 5}, Waiting: 3, Acquired: 2, TryRelease: 1}
	task := semaphore.Task{ID: "42", Priority: 5.5, Status: semaphore.TryRelease, Enqueued: 1_700_000_000_000_001, Lease: 9, Until: 1_700_000_001_000}
	for want, v := range map[string]any{
		`{"vhost":"/","key":"crowd","active":1000,"try_release":900,"order":"asc","lease":5,"waiting":3,"acquired":2,"try_release_asked":1}`: OfInfo("/", &info),
		`{"task":"42","status":"TRY_RELEASE","priority":5.5,"position":7,"enqueued":"2023-11-14T22:13:20.000001Z","lease":9,"expires":"2023-11-14T22:13:21.000000Z"}`: OfState("42",
			&semaphores.State{Task: task, Found: true, Position: 7}),
		`{"task":"1","status":"WAIT","priority":0,"position":1,"enqueued":"1970-01-01T00:00:00.000000Z","lease":0,"expires":null}`: OfState("1", &semaphores.State{Found: true, Position: 1}),
		`{"task":"43","status":null}`:  OfState("43", &semaphores.State{}),
		`[{"task":"a","status":null}]`: OfStates([]string{"a"}, make([]semaphores.State, 1)),
		`[]`:                           OfStates(nil, nil),
		`{"error":"not_found","reason":"no such task"}`: Refuse(semaphores.ErrNoTask),
		`{"active":1}`: Settings{Active: new(int(1))},
		`{"key":"k","task":"42","event":"TryRelease","status":"TRY_RELEASE","priority":5.5,"seq":3,"time":"2023-11-14T22:13:20.123000Z"}`: OfEvent(&semaphores.Event{Key: "k", Event: semaphore.EventTryRelease, Task: task, Seq: 3, Time: 1_700_000_000_123}),
		`{"key":"k","task":"42","event":"Deleted","status":"","priority":5.5,"seq":3,"time":"1970-01-01T00:00:00.000000Z"}`:               OfEvent(&semaphores.Event{Key: "k", Event: semaphore.EventDeleted, Task: task, Gone: true, Seq: 3}),
	} {
		got, err := json.Marshal(v)
		if err != nil || string(got) != want {
			t.Errorf("%s, %v\nwant %s", got, err, want)
		}
	}
}

func TestTasksAreReadBack(t *testing.T) {
	at := Time(1_700_000_000_123_456)
	for _, want := range []Task{{Task: "a"}, {Task: "b", Status: "WAIT", Priority: -1, Position: 2, Enqueued: at}, {Task: "c", Status: "ACQUIRED", Expires: &at}} {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Task
		if err := json.Unmarshal(text, &got); err != nil || fmt.Sprint(got, got.Expires) != fmt.Sprint(want, got.Expires) && want.Expires == nil {
			t.Errorf("%s is read as %+v, %v", text, got, err)
		}
		if want.Expires != nil && (got.Expires == nil || *got.Expires != at) {
			t.Errorf("%s expires %v", text, got.Expires)
		}
	}
}

func TestSettings(t *testing.T) {
	down, up, other := Descending, Ascending, "DESC"
	if s, err := (Settings{Order: &up}).Of("k"); err != nil || s.Ascending == nil || !*s.Ascending || s.Active != nil {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := (Settings{Order: &down}).Of("k"); err != nil || s.Ascending == nil || *s.Ascending {
		t.Errorf("%+v, %v", s, err)
	}
	_, err := Settings{Order: &other}.Of("k")
	if got, want := Refuse(err), (Refusal{BadRequest, "semaphore 'k': invalid value of order: it is asc or desc"}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := Only("k", []string{"WAIT", "RUNNING"}); Refuse(err).Error != BadRequest {
		t.Errorf("%v", err)
	}
	if only, err := Only("k", []string{"TRY_RELEASE", "WAIT"}); err != nil || len(only) != 2 || only[0] != semaphore.TryRelease {
		t.Errorf("%v, %v", only, err)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Refusal
	}{
		{&failure.Error{Err: semaphores.ErrNotFound, Kind: "semaphore", Name: "k", VHost: "/"}, Refusal{NotFound, "semaphore 'k': no such semaphore"}},
		{&failure.Error{Err: failure.ErrAccessRefused, Kind: "semaphore", Name: "k", VHost: "/", User: "bob", Action: "write"},
			Refusal{AccessRefused, "write access to semaphore 'k' in vhost '/' refused for user 'bob'"}},
		{fmt.Errorf("x: %w", &failure.Error{Err: semaphores.ErrInvalid, Kind: "task", Name: "7", Arg: "priority"}), Refusal{BadRequest, "task '7': invalid value of priority"}},
		{&failure.Error{Err: failure.ErrLogFailed, Kind: "definition", Detail: "/secret/path: no space"}, Refusal{Internal, "the log has failed and takes no more writes"}},
		{errors.New("/secret/path: no space"), Refusal{Internal, "the broker could not do it; its log says why"}},
	} {
		if got := Refuse(c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}

// TestEverySentinelHasAWord checks that the table is complete.
func TestEverySentinelHasAWord(t *testing.T) {
	text, err := os.ReadFile("../api.go")
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("refusal.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^\t(Err\w+)\s+= errors\.New`).FindAllStringSubmatch(string(text), -1)
	if len(found) < 5 {
		t.Fatalf("found only %v", found)
	}
	for _, m := range found {
		if !strings.Contains(string(table), "{semaphores."+m[1]+",") {
			t.Errorf("semaphores.%s has no word", m[1])
		}
	}
}

func TestDecode(t *testing.T) {
	type request struct {
		Entry
		Tasks []TaskID
	}
	for text, want := range map[string]string{
		`{"task":42,"priority":-1.5,"lease":7}`: "",
		`{"tasks":["a",-9223372036854775808]}`:  "",
		``:                                      "the request is empty",
		`{} {}`:                                 "data after the request",
		"{\"task\":\"\xff\"}":                   "the request is not UTF-8",
		`{"Task":1.5}`:                          "a task is a string or a whole number, not 1.5",
		`{"task":"a","owner":1}`:                "unknown field",
		`{"task":null}`:                         "not null",
		`{"task":"a","priority":"5"}`:           "cannot unmarshal string",
		`{"task":`:                              "unexpected EOF",
	} {
		var r request
		err := Decode([]byte(text), &r)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	var r request
	if err := Decode([]byte(`{"task":0042,"priority":1}`), &r); err == nil {
		t.Errorf("read as %q", r.Task)
	}
	if err := Decode([]byte(`{"task":-0,"priority":1,"tasks":["x",7]}`), &r); err != nil || r.Task != "0" || fmt.Sprint(r.Tasks) != "[x 7]" {
		t.Errorf("%+v, %v", r, err)
	}
	if e, err := r.Of("k"); err != nil || e.Task != "0" || e.Priority != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := (Entry{Task: "9"}).Of("k"); Refuse(err).Error != BadRequest {
		t.Errorf("%v", err)
	}
}
