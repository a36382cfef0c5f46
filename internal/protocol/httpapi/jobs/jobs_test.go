package jobs

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"fiveways/internal/broker"
	"fiveways/internal/protocol/httpapi/rest"
	"fiveways/internal/storage/vfs"
)

// request answers a request written as "PUT /api/x {...}".
func request(t *testing.T, a *rest.API, text string) (status int, body string) {
	t.Helper()
	method, rest, _ := strings.Cut(text, " ")
	target, in, _ := strings.Cut(rest, " ")
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest(method, target, strings.NewReader(in)))
	out, err := io.ReadAll(w.Body)
	if err != nil || len(out) > 0 && !json.Valid(out) {
		t.Fatalf("%s: %v: %s", text, err, out)
	}
	return w.Code, strings.TrimSpace(string(out))
}

func TestJobs(t *testing.T) {
	b, err := broker.Open(vfs.NewMem(), "data", broker.Options{Logger: slog.New(slog.DiscardHandler), DiskFreeLimit: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	a := rest.New(b, rest.Options{Log: slog.New(slog.DiscardHandler)})
	Register(a)
	s, err := b.Operate("/")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.DeclareQueue(broker.QueueSpec{Name: "plain", Durable: true, Policy: broker.DefaultQueuePolicy()}); err != nil {
		t.Fatal(err)
	}
	play := func(steps ...[3]any) {
		t.Helper()
		for _, k := range steps {
			if status, got := request(t, a, k[0].(string)); status != k[1] || !strings.Contains(got, k[2].(string)) {
				t.Errorf("%s:\n got %d %s\nwant %d with %s", k[0], status, got, k[1], k[2])
			}
		}
	}
	const mail = "/api/jobs/%2F/mail"
	play(
		[3]any{"GET /api/jobs", 200, `{"jobs":[]}`},
		[3]any{"POST " + mail + ` {"id":"a","payload":"hello","headers":{"n":1},"priority":3}`, 201, `{"id":"a","updated":false}`},
		[3]any{"POST " + mail + ` {"id":"a","payload":"hello"}`, 409, `"error":"already_queued"`},
		[3]any{"POST " + mail + ` {"id":"a","payload":"again","update":true}`, 200, `{"id":"a","updated":true}`},
		[3]any{"POST " + mail + ` {"id":"b/c","payload":"/w==","payload_encoding":"base64","backoff":"1h","lock":"2m","ttl":3}`, 400, "not the JSON object"},
		[3]any{"POST " + mail + ` {"id":"b/c","payload":"/w==","payload_encoding":"base64","backoff":"1h","lock":"2m","ttl":"24h"}`, 201, ""},
		[3]any{"POST " + mail + ` {"payload":"x","backoff":"later"}`, 400, "no duration"},
		[3]any{"POST " + mail + ` {"payload":"x","headers":{"n":null}}`, 400, "null_not_allowed"},
		[3]any{"POST " + mail + ` {"payload":"made up"}`, 201, `{"id":"`},
		[3]any{"GET /api/jobs", 200, `{"jobs":[{"vhost":"/","queue":"mail","queued":2,"backoff":1,"locked":0,"behind":0,"done":0,"done_backoff":0}]}`},
		[3]any{"GET " + mail + "/a", 200, `"id":"a","state":"queued","attempts":0,"first_enqueued":"`},
		[3]any{"GET " + mail + "/b%2Fc", 200, `"state":"queued-with-backoff"`},
		[3]any{"GET " + mail + "/none", 404, "nothing is known"},
		[3]any{"GET /api/jobs/%2F/none/x", 404, "no such queue"},
		[3]any{"GET /api/jobs/%2F/none", 404, "no such queue"},
		[3]any{"GET " + mail + "?state=queued-with-backoff", 200, `{"jobs":[{"id":"b/c","state":"queued-with-backoff"`},
		[3]any{"GET " + mail + "?state=asleep", 400, "state is that of a job"},
		[3]any{"GET " + mail + "?after=x", 400, "after is what"},
		[3]any{"GET " + mail + "?limit=1", 200, `"next":"m`},
		[3]any{"POST " + mail + "/b%2Fc/retry", 204, ""},
		[3]any{"GET " + mail + "/b%2Fc", 200, `"state":"queued"`},
		[3]any{"POST " + mail + "/none/retry", 404, "no job with that id"},
	)
	take := broker.Take{OnQueue: broker.OnQueue{Queue: "mail"}, Max: 1}
	if err := s.Do(&take); err != nil || take.Err != nil || string(take.Jobs[0].ID) != "a" {
		t.Fatal(err, take.Err, take.Jobs)
	}
	play(
		[3]any{"GET " + mail + "/a", 200, `"state":"locked"`},
		[3]any{"POST " + mail + "/a/retry", 409, `"error":"locked"`},
		[3]any{"DELETE " + mail + "/a", 409, `"error":"locked"`},
		[3]any{"DELETE " + mail + "/a?force=true", 204, ""},
		[3]any{"DELETE " + mail + "/a?force=perhaps", 400, "force is"},
		[3]any{"DELETE " + mail + "/b%2Fc", 204, ""},
		[3]any{"DELETE " + mail + "/b%2Fc", 404, "no job with that id"},
		// Looking does not make a queue one of jobs.
		[3]any{"GET /api/jobs/%2F/plain", 200, `{"jobs":[]}`},
		[3]any{"GET /api/jobs/%2F/plain/x", 404, "nothing is known"},
	)
	if st, err := s.QueueStatus("plain"); err != nil || st.Jobs {
		t.Error(st.Jobs, err)
	}
}
