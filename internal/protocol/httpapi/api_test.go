package httpapi

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fiveways/internal/broker"
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
