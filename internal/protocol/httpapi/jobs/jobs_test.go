package jobs

import (
	"fmt"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
)

func TestJobs(t *testing.T) {
	b := resttest.OpenBroker(t)
	a := rest.New(b, rest.Options{Log: resttest.Quiet})
	Register(a, monitor.New(b, monitor.Options{}))
	s := resttest.Operate(t, b)
	resttest.Declare(t, s, "plain")
	const mail = "/api/jobs/%2F/mail"
	resttest.Play(t, a, []resttest.Step{
		{"GET /api/jobs", 200, `{"jobs":[]}`},
		{"POST " + mail + ` {"id":"a","payload":"hello","headers":{"n":1},"priority":3}`, 201, `{"id":"a","updated":false}`},
		{"POST " + mail + ` {"id":"a","payload":"hello"}`, 409, `"error":"already_queued"`},
		{"POST " + mail + ` {"id":"a","payload":"again","update":true}`, 200, `{"id":"a","updated":true}`},
		{"POST " + mail + ` {"id":"b/c","payload":"/w==","payload_encoding":"base64","backoff":"1h","lock":"2m","ttl":3}`, 400, "not the JSON object"},
		{"POST " + mail + ` {"id":"b/c","payload":"/w==","payload_encoding":"base64","backoff":"1h","lock":"2m","ttl":"24h"}`, 201, ""},
		{"POST " + mail + ` {"payload":"x","backoff":"later"}`, 400, "no duration"},
		{"POST " + mail + ` {"payload":"x","headers":{"n":null}}`, 400, "null_not_allowed"},
		{"POST " + mail + ` {"payload":"made up"}`, 201, `{"id":"`},
		{"GET /api/jobs", 200, `{"jobs":[{"vhost":"/","queue":"mail","queued":2,"backoff":1,"locked":0,"behind":0,"done":0,"done_backoff":0,"day":{"enqueued":3,"done":0,"failed":0,"dead":0}}]}`},
		{"GET " + mail + "/a", 200, `"id":"a","state":"queued","attempts":0,"first_enqueued":"`},
		{"GET " + mail + "/b%2Fc", 200, `"state":"queued-with-backoff"`},
		{"GET " + mail + "/none", 404, "nothing is known"},
		{"GET /api/jobs/%2F/none/x", 404, "no such queue"},
		{"GET /api/jobs/%2F/none", 404, "no such queue"},
		{"GET " + mail + "?state=queued-with-backoff", 200, `{"jobs":[{"id":"b/c","state":"queued-with-backoff"`},
		{"GET " + mail + "?state=asleep", 400, "state is that of a job"},
		{"GET " + mail + "?after=x", 400, "after is what"},
		{"GET " + mail + "?limit=1", 200, `"next":"m`},
		{"POST " + mail + "/b%2Fc/retry", 204, ""},
		{"GET " + mail + "/b%2Fc", 200, `"state":"queued"`},
		{"POST " + mail + "/none/retry", 404, "no job with that id"},
	})
	takeA := func() (take jobs.Take) {
		take.Queue, take.Max = "mail", 1
		if err := s.Do(&take); err != nil || take.Err != nil || string(take.Jobs[0].ID) != "a" {
			t.Fatal(err, take.Err, take.Jobs)
		}
		return take
	}
	report := jobs.Report{OnQueue: broker.OnQueue{Queue: "mail"}, ID: []byte("a"), Token: takeA().Jobs[0].Token, Outcome: jobs.Retry, Error: []byte("no route")}
	if err := s.Do(&report); err != nil || report.Err != nil {
		t.Fatal(err, report.Err)
	}
	resttest.Play(t, a, []resttest.Step{
		{"GET " + mail + "/a", 200, `"attempts":1,"first_enqueued":"`},
		{"GET " + mail + "/a", 200, `"error":"no route"`},
		{"GET " + mail + "?state=queued", 200, `"error":"no route"`},
		{"GET /api/jobs", 200, `"day":{"enqueued":3,"done":0,"failed":1,"dead":0}`},
	})
	takeA()
	resttest.Play(t, a, []resttest.Step{
		{"GET " + mail + "/a", 200, `"state":"locked"`},
		{"POST " + mail + "/a/retry", 409, `"error":"locked"`},
		{"DELETE " + mail + "/a", 409, `"error":"locked"`},
		{"DELETE " + mail + "/a?force=true", 204, ""},
		{"DELETE " + mail + "/a?force=perhaps", 400, "force is"},
		{"DELETE " + mail + "/b%2Fc", 204, ""},
		{"DELETE " + mail + "/b%2Fc", 404, "no job with that id"},
		// Looking at a queue does not make it a job queue.
		{"GET /api/jobs/%2F/plain", 200, `{"jobs":[]}`},
		{"GET /api/jobs/%2F/plain/x", 404, "nothing is known"},
	})
	if st, err := inspect.Queue(s, "plain"); err != nil || st.Jobs {
		t.Error(st.Jobs, err)
	}
}

// All jobs in a state are changed at once, and no others. The page names the queues that failed
// jobs go to.
func TestManyJobs(t *testing.T) {
	b := resttest.OpenBroker(t)
	a := rest.New(b, rest.Options{Log: resttest.Quiet})
	Register(a, monitor.New(b, monitor.Options{}))
	s := resttest.Operate(t, b)
	resttest.Declare(t, s, "mail", func(q *catalog.QueueSpec) {
		q.Policy.DeadLetter, q.Policy.HasDeadLetterKey, q.Policy.DeadLetterKey = true, true, "mail.dead"
	})
	resttest.Declare(t, s, "mail.dead")
	const mail = "/api/jobs/%2F/mail"
	for i := range 30 {
		backoff := ""
		if i%3 == 0 {
			backoff = "1h"
		}
		resttest.Play(t, a, []resttest.Step{{fmt.Sprintf(`POST %s {"id":"j%02d","payload":"x","backoff":%q}`, mail, i, backoff), 201, ""}})
	}
	take := jobs.Take{OnQueue: broker.OnQueue{Queue: "mail"}, Max: 1}
	if err := s.Do(&take); err != nil || len(take.Jobs) != 1 {
		t.Fatal(err, take.Jobs)
	}
	const counts = `"queue":"mail","queued":%d,"backoff":%d,"locked":1,`
	resttest.Play(t, a, []resttest.Step{
		{"GET " + mail + "?limit=1", 200, `"dead_letter_queues":["mail.dead"]`},
		{"POST " + mail + "/retry", 200, `{"jobs":10}`},
		{"GET /api/jobs", 200, fmt.Sprintf(counts, 29, 0)},
		{"POST " + mail + ` {"id":"later","payload":"x","backoff":"1h"}`, 201, ""},
		{"DELETE " + mail, 400, "state is that of the jobs"},
		{"DELETE " + mail + "?state=locked", 400, "state is that of the jobs"},
		{"DELETE " + mail + "?state=queued", 200, `{"jobs":29}`},
		{"GET /api/jobs", 200, fmt.Sprintf(counts, 0, 1)},
		{"DELETE " + mail + "?state=queued-with-backoff", 200, `{"jobs":1}`},
		{"DELETE /api/jobs/%2F/none?state=queued", 404, "no such queue"},
	})
}
