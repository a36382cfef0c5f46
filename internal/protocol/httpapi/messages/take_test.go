package messages

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/enginetest"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

const messagesOfQ = "/api/queues/%2F/q/messages"

// raw publishes with a request whose body is the message itself.
func (n *node) raw(query, contentType, body string, fields ...string) (status int, answer string) {
	n.t.Helper()
	r := httptest.NewRequest("POST", messagesOfQ+query, strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	w := httptest.NewRecorder()
	n.h.ServeHTTP(w, r)
	out, err := io.ReadAll(w.Body)
	must(n.t, err)
	return w.Code, strings.TrimSpace(string(out))
}

func TestProduce(t *testing.T) {
	n := start(t)
	n.queue("q")
	n.play([]resttest.Step{
		{"POST " + messagesOfQ + ` {"payload":"a","properties":{"message_id":"m1","headers":{"tenant":"eu"}}}`, 201, `{"message_id":"m1"}`},
		{"POST " + messagesOfQ + ` {"payload":"/w==","payload_encoding":"base64"}`, 201, `{"message_id":"`},
		{"POST " + messagesOfQ + ` {"payload":"later","delay_ms":3600000}`, 201, ""},
		{"POST " + messagesOfQ + ` {"payload":"soon gone","properties":{"expiration":"3600000"}}`, 201, ""},
		{"POST " + messagesOfQ + ` {"payload":"x","properties":{"expiration":"soon"}}`, 400, "invalid expiration 'soon'"},
		{"POST " + messagesOfQ + ` {"payload":"x","properties":{"headers":{"not-before":"soon"}}}`, 400, "'soon' is not a time"},
		{"POST " + messagesOfQ + ` {"payload":5}`, 400, "?raw=true"},
		{"POST " + messagesOfQ + ` hello`, 400, "?raw=true"},
		{"POST " + messagesOfQ + `?raw=perhaps hello`, 400, "raw is true or false"},
		{`POST /api/queues/%2F/none/messages {"payload":"x"}`, 404, "no such queue"},
		{"POST " + messagesOfQ + ` {"properties":{"headers":{"x":"` + strings.Repeat("y", maxProperties) + `"}}}`, 413, "have at most"},
	})
	for _, k := range []struct {
		query, kind, body string
		fields            []string
		status            int
		want              string
	}{
		{"", "text/plain; charset=utf-8", "raw text", nil, 201, `{"message_id":"`},
		{"?raw=true", "application/json", `{"a":1}`, []string{"X-Fiveways-Message-Id", "r1", "X-Fiveways-Priority", "4", "X-Fiveways-Header-Tenant", "us"}, 201, `{"message_id":"r1"}`},
		{"?raw=true", formType, "plain", nil, 201, ""},
		{"", "text/plain", "x", []string{"X-Fiveways-Delay", "soon"}, 400, "no duration"},
		{"", "text/plain", "x", []string{"X-Fiveways-Priority", "high"}, 400, "not_int: priority"},
	} {
		if status, got := n.raw(k.query, k.kind, k.body, k.fields...); status != k.status || !strings.Contains(got, k.want) {
			t.Errorf("%s %s: %d %s", k.kind, k.body, status, got)
		}
	}
	all := ask[Page](n, "GET "+messagesOfQ).Messages
	show := func(m Message) string {
		headers, _ := m.Properties["headers"].(map[string]any)
		return fmt.Sprint(m.Payload, " ", m.Properties["content_type"], " ", m.Properties["priority"], " ", headers["tenant"], " ", m.Properties["delivery_mode"])
	}
	var got []string
	for _, m := range all {
		if m.State == "ready" {
			got = append(got, show(m))
		}
		if (m.Payload == "soon gone") != (m.Expires != "") || (m.Payload == "later") != (m.Due != "") {
			t.Errorf("%+v", m)
		}
	}
	same(t, got, "a <nil> <nil> eu 2", "/w== <nil> <nil> <nil> 2", "soon gone <nil> <nil> <nil> 2", "raw text text/plain; charset=utf-8 <nil> <nil> 2",
		`{"a":1} application/json 4 us 2`, "plain <nil> <nil> <nil> 2")
}

func TestTakeAndSettle(t *testing.T) {
	n := start(t)
	n.queue("dead")
	n.queue("q", deadTo("dead"))
	for i := range 5 {
		n.put("q", fmt.Sprint("m", i), fmt.Sprint("body ", i)) // as with any protocol
	}
	n.put("q", "m0", "of the same name")
	got := ask[Taken](n, "POST "+messagesOfQ+"/take?count=10&lease=1h").Messages
	if len(got) != 6 || got[0].Payload != "body 0" || got[0].State != "unacked" || got[0].LeaseUntil == "" || got[0].Redelivered {
		t.Fatalf("%+v", got)
	}
	token := func(i int) string { return got[i].Token }
	n.play([]resttest.Step{
		{"POST " + messagesOfQ + "/take", 200, `{"messages":[]}`},
		{"POST " + messagesOfQ + `/ack {"tokens":["` + token(0) + `","` + token(5) + `"]}`, 200, `{"acked":2,"stale":[]}`},
		{"POST " + messagesOfQ + `/ack {"tokens":["` + token(0) + `"]}`, 200, `{"acked":0,"stale":["` + token(0) + `"]}`},
		{"POST " + messagesOfQ + `/nack {"tokens":["` + token(1) + `"]}`, 200, `{"nacked":1,"stale":[]}`},
		{"POST " + messagesOfQ + `/nack {"tokens":["` + token(2) + `"],"delay":"1h"}`, 200, `{"nacked":1,"stale":[]}`},
		{"POST " + messagesOfQ + `/nack {"tokens":["` + token(3) + `"],"requeue":false,"error":"no such customer"}`, 200, `{"nacked":1,"stale":[]}`},
		{"POST " + messagesOfQ + `/nack {"tokens":["` + token(4) + `"],"requeue":false,"delay":"1h"}`, 400, "delay is for"},
		{"POST " + messagesOfQ + `/extend {"tokens":["` + token(4) + `"],"lease":"2h"}`, 200, `{"extended":1,"stale":[]}`},
		{"POST " + messagesOfQ + `/extend {"tokens":["` + token(1) + `"],"lease":"2h"}`, 200, `"stale":["` + token(1)},
		{"POST " + messagesOfQ + `/extend {"tokens":["` + token(4) + `"],"lease":"forever"}`, 400, "no duration"},
		{"POST " + messagesOfQ + `/extend {"tokens":["` + token(4) + `"],"lease":"200h"}`, 400, "at most"},
		{"POST " + messagesOfQ + `/ack {"tokens":[]}`, 400, "tokens is a list"},
		{"POST " + messagesOfQ + `/ack {"tokens":["x"]}`, 400, "no token"},
		{"POST " + messagesOfQ + `/ack {"tokens":["1-1.!"]}`, 400, "no token"},
		{"POST /api/queues/%2F/none/messages/take", 404, "no such queue"},
		{"POST " + messagesOfQ + "/take?lease=0", 400, "lease is how long"},
		{"POST " + messagesOfQ + "/take?count=0", 400, "count is a number"},
		{"POST " + messagesOfQ + "/take?wait=1h", 400, "at most 10m0s"},
		{"GET /api/queues/%2F/dead/messages", 200, `"x-error":"no such customer"`},
		{"GET " + messagesOfQ + "?state=scheduled", 200, `"message_id":"m2"`},
	})
	again := ask[Taken](n, "POST "+messagesOfQ+"/take?count=10").Messages
	if len(again) != 1 || again[0].MessageID != "m1" || !again[0].Redelivered || again[0].Returns != 1 {
		t.Errorf("%+v", again)
	}
}

// A lease and its token survive a restart of the broker.
func TestLeaseSurvivesRestart(t *testing.T) {
	fs := vfs.NewMem()
	b := resttest.Open(t, fs)
	n := serve(t, b)
	n.queue("q")
	n.put("q", "a", "x")
	m := ask[Taken](n, "POST "+messagesOfQ+"/take?lease=1h").Messages[0]
	enginetest.Close(t, b)
	b = resttest.Open(t, fs)
	defer enginetest.Close(t, b)
	n = serve(t, b)
	n.play([]resttest.Step{
		{"POST " + messagesOfQ + "/take", 200, `{"messages":[]}`},
		{"POST " + messagesOfQ + `/ack {"tokens":["` + m.Token + `"]}`, 200, `{"acked":1,"stale":[]}`},
		{"GET " + messagesOfQ, 200, `{"messages":[],"scanned":0}`},
	})
}

// A take waits for messages up to the requested time. A message whose lease has expired returns to
// the queue.
func TestTakeWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := resttest.Open(t, vfs.NewMem())
		defer enginetest.Close(t, b)
		n := serve(t, b)
		n.queue("q")
		start := time.Now()
		n.play([]resttest.Step{{"POST " + messagesOfQ + "/take?wait=30s", 200, `{"messages":[]}`}})
		if waited := time.Since(start); waited != 30*time.Second {
			t.Errorf("it waited %v", waited)
		}
		answer := make(chan string, 1)
		go func() {
			_, body := n.request("POST " + messagesOfQ + "/take?wait=30s&lease=10s")
			answer <- body
		}()
		synctest.Wait()
		n.put("q", "a", "at last", message.Field{Name: "k", Value: "v"})
		if got := <-answer; !strings.Contains(got, "at last") {
			t.Errorf("got %s", got)
		}
		start = time.Now()
		if got := ask[Taken](n, "POST "+messagesOfQ+"/take?wait=30s").Messages; len(got) != 1 || got[0].Returns != 1 {
			t.Errorf("got %+v", got)
		}
		if waited := time.Since(start); waited < 9*time.Second || waited > 11*time.Second {
			t.Errorf("the lease was over after %v", waited)
		}
	})
}

// feed is a response that forwards what is written to it.
type feed struct {
	header http.Header
	lines  chan string
}

func (f *feed) Header() http.Header { return f.header }
func (f *feed) WriteHeader(int)     {}
func (f *feed) Flush()              {}
func (f *feed) Write(b []byte) (int, error) {
	f.lines <- string(b)
	return len(b), nil
}

// A stream has at most prefetch messages unsettled, continues when one is acknowledged or its lease
// expires, and sends keepalives.
func TestStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := resttest.Open(t, vfs.NewMem())
		defer enginetest.Close(t, b)
		n := serve(t, b)
		n.queue("q")
		for i := range 4 {
			n.put("q", fmt.Sprint("m", i), fmt.Sprint("body ", i))
		}
		f := &feed{http.Header{}, make(chan string, 100)}
		ctx, gone := contextOf(t)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			n.h.ServeHTTP(f, httptest.NewRequestWithContext(ctx, "GET", "/api/queues/%2F/q/stream?prefetch=2&lease=20s", nil))
		}()
		read := func() string {
			synctest.Wait()
			var all strings.Builder
			for len(f.lines) > 0 {
				all.WriteString(<-f.lines)
			}
			return all.String()
		}
		first := read()
		if f.header.Get("Content-Type") != "text/event-stream" || strings.Count(first, "event: message\n") != 2 || !strings.Contains(first, "body 1") {
			t.Fatalf("%v %s", f.header, first)
		}
		n.play([]resttest.Step{{"POST " + messagesOfQ + `/ack {"tokens":["` + tokenIn(first) + `"]}`, 200, `{"acked":1,`}})
		if got := read(); strings.Count(got, "event: message\n") != 1 || !strings.Contains(got, "body 2") {
			t.Errorf("after an ack: %s", got)
		}
		time.Sleep(heartbeat)
		if got := read(); got != ":\n\n" {
			t.Errorf("after a while: %q", got)
		}
		time.Sleep(6 * time.Second) // the leases have expired
		if got := read(); strings.Count(got, "event: message\n") != 2 || !strings.Contains(got, `"returns":1`) {
			t.Errorf("after the leases: %s", got)
		}
		gone()
		<-ended
		n.play([]resttest.Step{
			{"GET /api/queues/%2F/none/stream", 404, "no such queue"},
			{"GET /api/queues/%2F/q/stream?prefetch=0", 400, "prefetch"},
		})
	})
}

func tokenIn(event string) string {
	_, rest, _ := strings.Cut(event, `"token":"`)
	token, _, _ := strings.Cut(rest, `"`)
	return token
}
