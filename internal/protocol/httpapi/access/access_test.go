package access

import (
	"log/slog"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
)

func apiOf(b *broker.Broker, log *slog.Logger) *rest.API {
	a := rest.New(b, rest.Options{Log: log, LoginDelay: -1})
	Register(a, Options{Node: &rest.Node{Name: "fiveways@here", Monitor: monitor.New(b, monitor.Options{})}})
	return a
}

func TestAccess(t *testing.T) {
	var log strings.Builder
	b := resttest.OpenBroker(t)
	resttest.Play(t, apiOf(b, slog.New(slog.NewTextHandler(&log, nil))), []resttest.Step{
		{"GET /api/users", 200, `"name":"guest"`},
		{"GET /api/users/alice", 404, `{"error":"Object Not Found","reason":"Not Found"}`},
		{"GET /api/whoami", 200, `{"name":"operator","tags":["administrator"]}`},
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
		{`PUT /api/users/bob {"password_hash":"x","password":"y","tags":""}`, 400, "both_password_and_password_hash_are_provided"},
		{`PUT /api/users/bob {"password_hash":"not base64","tags":""}`, 400, "invalid password"},
		{`PUT /api/users/bob {"tags":""}`, 204, ""},
		{`PUT /api/users/bob {"password":"x"}`, 400, "tags_not_present"},
		{`PUT /api/users/bob {"password":"","tags":""}`, 400, "empty"},
		{"GET /api/users/without-permissions?columns=name", 200, `[{"name":"alice"},{"name":"bob"}]`},
		{"GET /api/users?page=1&name=AL&columns=name", 200, `"items":[{"name":"alice"}]`},
		{`PUT /api/users/bob {"password":"x","tags":7}`, 400, "tags must be a list"},
		{`PUT /api/users/bob nonsense`, 400, `"error":"bad_request"`},

		{"PUT /api/vhosts/a%2Fb {}", 201, ""},
		{`PUT /api/vhosts/a%2Fb {"description":"two parts","tags":["x"]}`, 204, ""},
		{"GET /api/vhosts/a%2Fb", 200, `{"name":"a/b","description":"two parts","tags":["x"],"default_queue_type":"undefined","metadata":{"description":"two parts","tags":["x"]},"tracing":false,"cluster_state":{"fiveways@here":"running"},"limits":{},"messages":0,`},
		{`PUT /api/vhosts/a%2Fb {"description":"two parts","tags":["x"],"tracing":"true"}`, 204, ""},
		{"GET /api/vhosts/a%2Fb", 200, `"tracing":true`},
		{`PUT /api/vhosts/a%2Fb {"description":"two parts","tags":["x"]}`, 204, ""},
		{"GET /api/vhosts", 200, `"tracing":true`},
		{`PUT /api/vhosts/a%2Fb {"tracing":"maybe"}`, 400, "not_boolean"},
		{`PUT /api/vhosts/a%2Fb {"description":"two parts","tags":["x"],"tracing":false}`, 204, ""},
		{"GET /api/vhosts/a%2Fb", 200, `"tracing":false`},
		{"PUT /api/vhosts/c", 201, ""},
		{`POST /api/vhosts/c/start/fiveways@here`, 204, ""},
		{`POST /api/vhosts/c/start/other`, 400, "Request to node other failed with nodedown"},
		{"DELETE /api/vhosts/c", 204, ""},
		{"GET /api/vhosts/%2F", 200, `"name":"/"`},
		{"GET /api/vhosts/none", 404, "Not Found"},

		{`PUT /api/permissions/%2f/alice {"configure":"^a","write":".*","read":""}`, 201, ""},
		{`PUT /api/permissions/%2F/alice {"configure":"^b","write":".*","read":""}`, 204, ""},
		{`PUT /api/permissions/a%2Fb/alice {"configure":"","write":"","read":".*"}`, 201, ""},
		{`PUT /api/permissions/%2F/alice {"configure":"(","write":".*","read":""}`, 400, "regular expression"},
		{`PUT /api/permissions/%2F/carol {"configure":"","write":"","read":""}`, 400, "vhost_or_user_not_found: user 'carol': no such user"},
		{"GET /api/permissions/%2F/alice", 200, `{"user":"alice","vhost":"/","configure":"^b","write":".*","read":""}`},
		{"GET /api/permissions/%2F/bob", 404, "Not Found"},
		{"GET /api/users/alice/permissions", 200, `"vhost":"a/b"`},
		{"GET /api/vhosts/a%2Fb/permissions", 200, `[{"user":"alice","vhost":"a/b","configure":"","write":"","read":".*"}]`},
		{`PUT /api/permissions/%2F/bob {"configure":"","write":""}`, 400, "[{key_missing,read}]"},
		{"DELETE /api/permissions/a%2Fb/alice", 204, ""},
		{"DELETE /api/permissions/a%2Fb/alice", 404, "Not Found"},
		{"GET /api/vhosts/a%2Fb/permissions", 200, `[]`},

		{`PUT /api/topic-permissions/%2F/alice {"exchange":"amq.topic","write":"^{username}","read":".*"}`, 201, ""},
		{"GET /api/topic-permissions/%2F/alice", 200, `[{"user":"alice","vhost":"/","exchange":"amq.topic","write":"^{username}","read":".*"}]`},
		{"DELETE /api/topic-permissions/%2F/alice/amq.topic", 204, ""},
		{"GET /api/topic-permissions/%2F/alice", 404, "Not Found"},

		{"DELETE /api/vhosts/a%2Fb", 204, ""},
		{"DELETE /api/vhosts/a%2Fb", 404, "no such virtual host"},
		{`POST /api/users/bulk-delete {}`, 400, "[{key_missing,users}]"},
		{`POST /api/users/bulk-delete {"users":["bob","nobody"]}`, 400, "no_such_user: nobody"},
		{`POST /api/users/bulk-delete {"users":["bob"]}`, 204, ""},
		{"GET /api/users/bob/permissions", 404, "Not Found"},
		{"DELETE /api/users/alice", 204, ""},
		{"GET /api/permissions", 200, `"user":"guest"`},
		{"GET /api/vhosts/%00", 404, "Not Found"}, // not another name of /
		{"DELETE /api/vhosts/%00", 404, "Not Found"},
		{"DELETE /api/vhosts/%2E", 404, "vhost '.'"},
		{"GET /api/nothing", 404, `{"error":"Object Not Found","reason":"Not Found"}`},
	})
	for _, secret := range []string{"s3cret", "argon2id"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log tells %q", secret)
		}
	}
	if !strings.Contains(log.String(), "audit.on=/api/permissions/%2F/alice") {
		t.Error("the log does not tell which permission was changed")
	}
}

// The creator of a virtual host may use it at once. Callers see only their own virtual hosts.
func TestVHostsOfCallers(t *testing.T) {
	b := resttest.OpenBroker(t)
	for _, tag := range []string{"management", "administrator"} {
		resttest.AddUser(t, b, tag, "", tag)
	}
	server := rest.NewServer(apiOf(b, resttest.Quiet), rest.ServerOptions{}).Handler()
	resttest.Play(t, resttest.As(server, "administrator"), []resttest.Step{
		{"PUT /api/vhosts/v", 201, ""},
		{"GET /api/permissions/v/administrator", 200, `"configure":".*","write":".*","read":".*"`},
		{`PUT /api/permissions/v/management {"configure":"","write":"","read":""}`, 201, ""},
		{"GET /api/vhosts?columns=name", 200, `[{"name":"/"},{"name":"v"}]`},
		{"GET /api/whoami", 200, `{"name":"administrator","tags":["administrator"]}`},
	})
	resttest.Play(t, resttest.As(server, "management"), []resttest.Step{
		{"GET /api/vhosts?columns=name", 200, `[{"name":"v"}]`},
		{"GET /api/users", 401, "Not administrator user"},
		{"GET /api/vhosts/v", 401, "Not administrator user"},
	})
}
