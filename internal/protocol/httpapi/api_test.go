package httpapi

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fiveways/internal/broker"
	"fiveways/internal/core/message"
	"fiveways/internal/storage/vfs"
)

// step is one request and what must come of it.
type step struct {
	request string // "PUT /api/users/a {...}"
	status  int
	want    string // the answer holds this text
}

func openBroker(t *testing.T) *broker.Broker {
	t.Helper()
	b, err := broker.Open(vfs.NewMem(), "data", broker.Options{Logger: slog.New(slog.DiscardHandler), DiskFreeLimit: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func play(t *testing.T, h http.Handler, steps []step) {
	t.Helper()
	for _, s := range steps {
		method, rest, _ := strings.Cut(s.request, " ")
		target, body, _ := strings.Cut(rest, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, target, strings.NewReader(body)))
		got, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		if w.Code != s.status || !strings.Contains(string(got), s.want) {
			t.Errorf("%s:\n got %d %s\nwant %d with %s", s.request, w.Code, got, s.status, s.want)
		}
		if len(got) > 0 && !json.Valid(got) {
			t.Errorf("%s: the answer is no JSON: %s", s.request, got)
		}
	}
}

func TestAccess(t *testing.T) {
	var log strings.Builder
	b := openBroker(t)
	play(t, New(b, Options{Log: slog.New(slog.NewTextHandler(&log, nil))}), []step{
		{"GET /api/users", 200, `"name":"guest"`},
		{"GET /api/users/alice", 404, `{"error":"Object Not Found","reason":"user 'alice': no such user"}`},
		{`PUT /api/users/alice {"password":"s3cret-1","tags":"monitoring, impersonator"}`, 201, ""},
		{`PUT /api/users/alice {"password":"s3cret-2","tags":["administrator"]}`, 204, ""},
		{"GET /api/users/alice", 200, `"hashing_algorithm":"argon2id","tags":["administrator"],"loopback_only":false,"limits":{}`},
		{`PUT /api/users/alice/tags {"tags":["monitoring"]}`, 204, ""},
		{"GET /api/users/alice", 200, `"tags":["monitoring"]`},
		{`PUT /api/users/alice/password {"password":"s3cret-3"}`, 204, ""},
		{`PUT /api/users/alice/password {"password":""}`, 400, "empty"},
		{`PUT /api/users/carol/tags {"tags":[]}`, 404, "no such user"},
		{`PUT /api/users/alice/loopback-only {"value":true}`, 204, ""},
		{"GET /api/users/alice", 200, `"loopback_only":true`},
		{`PUT /api/users/carol/loopback-only {"value":true}`, 404, "no such user"},
		{`PUT /api/users/bob {"password_hash":"","tags":""}`, 201, ""},
		{`PUT /api/users/bob {"password_hash":"x","password":"y","tags":""}`, 400, "not both"},
		{`PUT /api/users/bob {"password_hash":"not base64","tags":""}`, 400, "invalid password"},
		{`PUT /api/users/bob {"tags":""}`, 400, "needs a password"},
		{`PUT /api/users/bob {"password":""}`, 400, "empty"},
		{`PUT /api/users/bob {"password":"x","tags":7}`, 400, "tags are a list"},
		{`PUT /api/users/bob nonsense`, 400, `"error":"bad_request"`},

		{"PUT /api/vhosts/a%2Fb {}", 201, ""},
		{`PUT /api/vhosts/a%2Fb {"description":"two parts","tags":["x"]}`, 204, ""},
		{"GET /api/vhosts/a%2Fb", 200, `{"name":"a/b","description":"two parts","tags":["x"],"limits":{}}`},
		{"GET /api/vhosts/%2F", 200, `"name":"/"`},
		{"GET /api/vhosts/none", 404, "no such virtual host"},

		{`PUT /api/permissions/%2f/alice {"configure":"^a","write":".*","read":""}`, 201, ""},
		{`PUT /api/permissions/%2F/alice {"configure":"^b","write":".*","read":""}`, 204, ""},
		{`PUT /api/permissions/a%2Fb/alice {"configure":"","write":"","read":".*"}`, 201, ""},
		{`PUT /api/permissions/%2F/alice {"configure":"(","write":".*","read":""}`, 400, "regular expression"},
		{`PUT /api/permissions/%2F/carol {"configure":"","write":"","read":""}`, 404, "no such user"},
		{"GET /api/permissions/%2F/alice", 200, `{"user":"alice","vhost":"/","configure":"^b","write":".*","read":""}`},
		{"GET /api/permissions/%2F/bob", 404, "no permission"},
		{"GET /api/users/alice/permissions", 200, `"vhost":"a/b"`},
		{"GET /api/vhosts/a%2Fb/permissions", 200, `[{"user":"alice","vhost":"a/b","configure":"","write":"","read":".*"}]`},
		{"DELETE /api/permissions/a%2Fb/alice", 204, ""},
		{"GET /api/vhosts/a%2Fb/permissions", 200, `[]`},

		{`PUT /api/topic-permissions/%2F/alice {"exchange":"amq.topic","write":"^{username}","read":".*"}`, 201, ""},
		{"GET /api/topic-permissions/%2F/alice", 200, `[{"user":"alice","vhost":"/","exchange":"amq.topic","write":"^{username}","read":".*"}]`},
		{"DELETE /api/topic-permissions/%2F/alice/amq.topic", 204, ""},
		{"GET /api/topic-permissions/%2F/alice", 404, "no topic permission"},

		{`PUT /api/vhost-limits/a%2Fb/max-queues {"value":3}`, 204, ""},
		{`PUT /api/vhost-limits/a%2Fb/max-dreams {"value":3}`, 400, "unknown limit"},
		{"GET /api/vhost-limits", 200, `{"vhost":"a/b","value":{"max-queues":3}}`},
		{"DELETE /api/vhost-limits/a%2Fb/max-queues", 204, ""},
		{`PUT /api/user-limits/alice/max-channels {"value":3}`, 204, ""},
		{"GET /api/user-limits", 200, `{"user":"alice","value":{"max-channels":3}}`},
		{"DELETE /api/user-limits/alice/max-channels", 204, ""},

		{"DELETE /api/vhosts/a%2Fb", 204, ""},
		{"DELETE /api/vhosts/a%2Fb", 404, "no such virtual host"},
		{"DELETE /api/users/alice", 204, ""},
		{"GET /api/permissions", 200, `"user":"guest"`},
		{"GET /api/vhosts/%00", 404, "Not Found"}, // no other name of /
		{"DELETE /api/vhosts/%00", 404, "Not Found"},
		{"GET /api/vhosts/%2E", 404, "vhost '.'"},
		{"GET /api/nothing", 404, `{"error":"Object Not Found","reason":"Not Found"}`},
	})
	for _, secret := range []string{"s3cret", "argon2id"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log tells %q", secret)
		}
	}
	if !strings.Contains(log.String(), "path=/api/permissions/%2F/alice") {
		t.Error("the log does not tell which permission was changed")
	}
}

func TestMessages(t *testing.T) {
	b := openBroker(t)
	s, err := b.Operate("/")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.DeclareQueue(broker.QueueSpec{Name: "q/1", Durable: true, Policy: broker.DefaultQueuePolicy()}); err != nil {
		t.Fatal(err)
	}
	publish := func(id, body string, due int64) {
		p := message.Properties{Flags: message.HasDeliveryMode | message.HasMessageID, DeliveryMode: 2, MessageID: id}
		props := p.Append(nil)
		peek, err := message.PeekProperties(props)
		if err != nil {
			t.Fatal(err)
		}
		targets, err := s.Route(nil, []byte("q/1"), &peek, nil)
		if err != nil {
			t.Fatal(err)
		}
		env := append(message.AppendEnvelopeHeader(nil, []byte(""), []byte("q/1"), props), body...)
		s.Publish(&broker.Publish{Targets: targets, Env: env, Persistent: true, TTL: -1, NotBefore: due})
	}
	const later = 32503680000000 // the year 3000
	publish("a", "text", 0)
	publish("b", "\xff\x00", 0)
	publish("c/d", "", later)
	publish("long", "x"+strings.Repeat("é", shownBytes), 0)
	s.Flush()
	play(t, New(b, Options{}), []step{
		{"GET /api/queues/%2F/q%2F1/messages", 200, `"message_id":"a","state":"ready","exchange":"","routing_key":"q/1","redelivered":false,"returns":0,"payload_bytes":4,"payload":"text","payload_encoding":"string"`},
		{"GET /api/queues/%2F/q%2F1/messages", 200, `"payload":"/wA=","payload_encoding":"base64"`},
		{"GET /api/queues/%2F/q%2F1/messages", 200, `éé","payload_encoding":"string"`}, // cut, but not in a character
		{"GET /api/queues/%2F/q%2F1/messages?state=scheduled", 200, `[{"message_id":"c/d","state":"scheduled"`},
		{"GET /api/queues/%2F/q%2F1/messages?state=blocked", 200, `[]`},
		{"GET /api/queues/%2F/q%2F1/messages?limit=0", 400, "limit is a number from 1 to 1000"},
		{"GET /api/queues/%2F/none/messages", 404, "no such queue"},
		{"GET /api/queues/none/q/messages", 404, "no such virtual host"},
		{"GET /api/queues/%2F/q%2F1/scheduled", 200, `{"total":1,"messages":[{"message_id":"c/d","due":"3000-01-01T00:00:00.000Z","exchange":"","routing_key":"q/1","payload_bytes":0}]}`},
		{"GET /api/queues/%2F/q%2F1/scheduled?from=x", 400, "from is what"},
		{"GET /api/exchanges/%2F/amq.direct/scheduled", 200, `{"total":0,"messages":[]}`},
		{"GET /api/exchanges/%2F/none/scheduled", 404, "no such exchange"},
		{`PUT /api/queues/%2F/q%2F1/scheduled/c%2Fd {"due":"3001-01-01T00:00:00Z"}`, 200, `{"messages":1}`},
		{`PUT /api/queues/%2F/q%2F1/scheduled/c%2Fd {"due":"next week"}`, 400, "bad_request"},
		{`PUT /api/queues/%2F/q%2F1/scheduled/c%2Fd {}`, 400, "due"}, // not: now
		{"GET /api/queues/%2F/q%2F1/scheduled", 200, `"due":"3001-01-01T00:00:00.000Z"`},
		{"DELETE /api/queues/%2F/q%2F1/scheduled/nope", 404, "no message with that id"},
		{"DELETE /api/queues/%2F/q%2F1/scheduled/c%2Fd", 200, `{"messages":1}`},
		{"GET /api/queues/%2F/q%2F1/scheduled", 200, `{"total":0,"messages":[]}`},
	})
	// Who has gone is not searched for: a queue may be long.
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	w := httptest.NewRecorder()
	New(b, Options{}).ServeHTTP(w, httptest.NewRequestWithContext(gone, "GET", "/api/queues/%2F/q%2F1/messages", nil))
	if got := strings.TrimSpace(w.Body.String()); got != "[]" {
		t.Errorf("a client that has gone gets %s", got)
	}
}
