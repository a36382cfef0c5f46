package etcd

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestWatchWithUsers checks that a watch shows only what its user may read, also when the user's
// role changes while the stream is open.
func TestWatchWithUsers(t *testing.T) {
	node := controlled(t)
	root, reader := dialAs(t, node.addr, "root", "root"), dialAs(t, node.addr, "reader", "p")
	allowed := reader.Watch(t.Context(), "a/", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	if r := <-allowed; !r.Created || r.Err() != nil {
		t.Fatalf("%+v", r)
	}
	refused := func(what, key string, opts ...clientv3.OpOption) {
		t.Helper()
		r := <-reader.Watch(t.Context(), key, opts...)
		if !r.Canceled || !strings.HasSuffix(r.Err().Error(), rpctypes.ErrPermissionDenied.Error()) {
			t.Errorf("%s: %+v, %v", what, r, r.Err())
		}
	}
	refused("another key", "b")
	refused("more than the range", "a", clientv3.WithRange("b0"))
	refused("everything from a key on", "a/", clientv3.WithFromKey())
	if _, err := root.Put(t.Context(), "a/x", "v"); err != nil {
		t.Fatal(err)
	}
	if e := nextEvents(t, allowed); string(e[0].Kv.Key) != "a/x" {
		t.Errorf("event %v", e)
	}
	if _, err := root.RoleGrantPermission(t.Context(), "r", "b", "", clientv3.PermissionType(clientv3.PermRead)); err != nil {
		t.Fatal(err)
	}
	if r := <-reader.Watch(t.Context(), "b", clientv3.WithCreatedNotify()); !r.Created || r.Err() != nil {
		t.Errorf("after the grant: %+v", r)
	}
	if _, err := root.UserRevokeRole(t.Context(), "reader", "r"); err != nil {
		t.Fatal(err)
	}
	refused("after the role is revoked", "a/x")
}

// TestGatewayWithUsers checks that the gateway's token is accepted in the header Authorization.
func TestGatewayWithUsers(t *testing.T) {
	node := controlled(t)
	text := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	put := fmt.Sprintf(`{"key":%q}`, text("b"))
	if status, body := post(t, node, "/v3/kv/put", put); status != 400 || !strings.Contains(body, "etcdserver: user name is empty") {
		t.Errorf("without a token: %d %s", status, body)
	}
	status, body := post(t, node, "/v3/auth/authenticate", `{"name":"root","password":"root"}`)
	var answer struct{ Token string }
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.Token == "" {
		t.Fatalf("%d %s: %v", status, body, err)
	}
	if status, body = post(t, node, "/v3/kv/put", put, "Authorization", answer.Token); status != 200 {
		t.Errorf("with a token: %d %s", status, body)
	}
	if status, body = post(t, node, "/v3/kv/put", put, "Authorization", "wrong"); status != 401 || !strings.Contains(body, "etcdserver: invalid auth token") {
		t.Errorf("with a wrong token: %d %s", status, body)
	}
}

// TestGatewayOfQueues passes a message from one client of the gateway to another.
func TestGatewayOfQueues(t *testing.T) {
	node := newNode(t, Options{})
	text := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	watch := fmt.Sprintf(`{"create_request":{"key":%q,"range_end":%q}}`, text("/q/jobs/c/me/"), text("/q/jobs/c/me0"))
	next := stream(t, node, "/v3/watch", watch)
	if s := next(); !strings.Contains(s, `"created":true`) {
		t.Fatal(s)
	}
	if status, body := post(t, node, "/v3/kv/put", fmt.Sprintf(`{"key":%q,"value":%q}`, text("/q/jobs/p/1"), text("hello"))); status != 200 {
		t.Fatal(status, body)
	}
	if s := next(); !strings.Contains(s, text("hello")) || !strings.Contains(s, text("/q/jobs/c/me/00000000000000000001/1")) {
		t.Errorf("event %s", s)
	}
}
