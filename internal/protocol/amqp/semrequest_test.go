package amqp

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/semaphores/semjson"
)

// TestReadRequest checks the changes that the manager is asked for.
func TestReadRequest(t *testing.T) {
	for body, want := range map[string]string{
		`{"op":"create","semaphore":"k","active":5,"order":"asc"}`:                                                           `Create k active 5 ascending true`,
		`{"op":"set","semaphore":"k","try_release":0}`:                                                                       `Update k try_release 0 create false`,
		`{"op":"set","semaphore":"k","lease":9,"create":true}`:                                                               `Update k lease 9 create true`,
		`{"op":"delete","semaphore":"k","if_empty":true}`:                                                                    `Delete k if empty true`,
		`{"op":"enqueue","semaphore":"k","task":42,"priority":-1}`:                                                           `Enqueue k [{42 -1 0 0}]`,
		`{"op":"enqueue","semaphore":"k","lease":7,"tasks":[{"task":"a","priority":1},{"task":2,"priority":2.5,"lease":3}]}`: `Enqueue k [{a 1 7 0} {2 2.5 3 0}]`,
		`{"op":"enqueue","semaphore":"k","tasks":[]}`:                                                                        `Enqueue k []`,
		`{"op":"release","semaphore":"k","task":"a"}`:                                                                        `Release k [a]`,
		`{"op":"release","semaphore":"k","tasks":["a",7]}`:                                                                   `Release k [a 7]`,
		`{"op":"renew","semaphore":"k","tasks":["a"]}`:                                                                       `Renew k [a]`,
		`{"op":"status","semaphore":"k","task":"a"}`:                                                                         `Status k [a]`,
		`{"op":"tasks","semaphore":"k"}`:                                                                                     `Page k from 1 limit 0 []`,
		`{"op":"tasks","semaphore":"k","from":101,"limit":5,"status":["WAIT"]}`:                                              `Page k from 101 limit 5 [WAIT]`,
		`{"op":"show","semaphore":"k"}`:                                                                                      `Look k`,
		`{"op":"list","contains":"x"}`:                                                                                       `nothing`,
	} {
		op, err := new(conn).readRequest([]byte(body))
		if err != nil {
			t.Errorf("%s: %v", body, err)
		} else if got := wordsOf(op.change); got != want {
			t.Errorf("%s asks for %q, want %q", body, got, want)
		}
	}
}

func wordsOf(c semaphores.Change) string {
	switch c := c.(type) {
	case *semaphores.Create:
		return "Create " + c.Key + settingsWords(c.Settings)
	case *semaphores.Update:
		return fmt.Sprintf("Update %s%s create %v", c.Key, settingsWords(c.Settings), c.Create)
	case *semaphores.Delete:
		return fmt.Sprintf("Delete %s if empty %v", c.Key, c.IfEmpty)
	case *semaphores.Enqueue:
		return fmt.Sprintf("Enqueue %s %v", c.Key, c.Entries)
	case *semaphores.Release:
		return fmt.Sprintf("Release %s %v", c.Key, c.Tasks)
	case *semaphores.Renew:
		return fmt.Sprintf("Renew %s %v", c.Key, c.Tasks)
	case *semaphores.Status:
		return fmt.Sprintf("Status %s %v", c.Key, c.Tasks)
	case *semaphores.Page:
		return fmt.Sprintf("Page %s from %d limit %d %v", c.Key, c.From, c.Limit, c.Only)
	case *semaphores.Look:
		return "Look " + c.Key
	case nil:
		return "nothing"
	}
	return fmt.Sprintf("%T", c)
}

func settingsWords(s semaphores.Settings) (words string) {
	if s.Active != nil {
		words += fmt.Sprint(" active ", *s.Active)
	}
	if s.TryRelease != nil {
		words += fmt.Sprint(" try_release ", *s.TryRelease)
	}
	if s.Ascending != nil {
		words += fmt.Sprint(" ascending ", *s.Ascending)
	}
	if s.Lease != nil {
		words += fmt.Sprint(" lease ", *s.Lease)
	}
	return words
}

// TestBadRequests checks that senseless requests are refused as invalid, with a helpful reason.
func TestBadRequests(t *testing.T) {
	for body, want := range map[string]string{
		``:                               "the request is empty",
		`[]`:                             "cannot unmarshal array",
		`{"op":"enqueue"}{}`:             "data after the request",
		`{"op":"enqueue","prio":1}`:      `unknown field "prio"`,
		`{}`:                             "op: it is missing",
		`{"op":"drop"}`:                  `there is no "drop"`,
		`{"op":"create","order":"down"}`: "order: it is asc or desc",
		`{"op":"create","active":1.5}`:   "cannot unmarshal number 1.5",
		`{"op":"enqueue","semaphore":"k","priority":1}`:                                          "either task or tasks",
		`{"op":"enqueue","task":"a","tasks":[],"priority":1}`:                                    "either task or tasks",
		`{"op":"enqueue","task":"a"}`:                                                            "priority: that of task 'a' is missing",
		`{"op":"enqueue","task":"a","priority":"high"}`:                                          "cannot unmarshal string",
		`{"op":"enqueue","tasks":["a"]}`:                                                         "cannot unmarshal string",
		`{"op":"enqueue","tasks":[{"task":"a","priority":1,"x":1}]}`:                             "unknown field",
		`{"op":"release","tasks":[{"task":"a"}]}`:                                                "a task is a string or a whole number",
		`{"op":"release"}`:                                                                       "either task or tasks",
		`{"op":"tasks","status":["RUNNING"]}`:                                                    `there is no status "RUNNING"`,
		`{"op":"tasks","from":-1}`:                                                               "positions begin with 1",
		`{"op":"tasks","limit":1001}`:                                                            "it is 0 to 1000",
		`{"op":"release","tasks":[` + strings.Repeat(`1,`, 10_000) + `1]}`:                       "more than 10000",
		`{"op":"enqueue","tasks":[` + strings.Repeat(`{"task":1,"priority":1},`, 10_000) + `1]}`: "more than 10000",
		strings.Repeat(" ", 1<<20) + `{}`:                                                        "more than 1048576 bytes",
	} {
		_, err := new(conn).readRequest([]byte(body))
		refusal := semjson.Refuse(err)
		if !errors.Is(err, semaphores.ErrInvalid) || !strings.Contains(refusal.Reason, want) {
			t.Errorf("%.60s: %v (%s), want %q", body, err, refusal.Reason, want)
		}
	}
}

func FuzzReadRequest(f *testing.F) {
	for _, body := range []string{
		`{"op":"enqueue","semaphore":"k","tasks":[{"task":"a","priority":1},{"task":2,"priority":2.5,"lease":3}]}`,
		`{"op":"set","semaphore":"k","active":5,"try_release":1,"order":"asc","lease":1,"create":true}`,
		`{"op":"tasks","semaphore":"k","from":101,"limit":5,"status":["WAIT"]}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		op, err := new(conn).readRequest(body)
		if (err == nil) != (op.answer != nil) || err != nil && !errors.Is(err, semaphores.ErrInvalid) {
			t.Errorf("%+v, %v", op, err)
		}
	})
}
