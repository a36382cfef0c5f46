package keys

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/keyspace"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

func TestKeys(t *testing.T) {
	store := keyspace.New(keyspace.Options{Folder: t.TempDir()})
	b := resttest.Open(t, vfs.NewMem(), func(o *broker.Options) { o.StateMachines = protocoltest.Machines(nil, store) })
	defer func() {
		store.Stop()
		enginetest.Close(t, b)
		store.Close()
	}()
	if err := store.Start(b.StateMachine(statemachine.Keys)); err != nil {
		t.Fatal(err)
	}
	a := rest.New(b, rest.Options{Log: resttest.Quiet})
	Register(a, store)
	lease, err := store.LeaseGrant(context.Background(), &pb.LeaseGrantRequest{TTL: 600, ID: 0x2a})
	if err != nil {
		t.Fatal(err)
	}
	resttest.Play(t, a, []resttest.Step{
		{"GET /api/keys", 200, `{"keys":[],"total":0,"revision":`},
		{`PUT /api/keys/%2Fapp%2Fa {"value":"1"}`, 201, ""},
		{`PUT /api/keys/%2Fapp%2Fa {"value":"2"}`, 204, ""},
		{`PUT /api/keys/%2Fapp%2Fb {"value":"/w==","value_encoding":"base64"}`, 201, ""},
		{fmt.Sprintf(`PUT /api/keys/%%2Fapp%%2Fc {"value":"","lease":"%x"}`, lease.ID), 201, ""},
		{`PUT /api/keys/%2Fapq {"value":"outside"}`, 201, ""},
		{`PUT /api/keys/%FF {"value":"no text"}`, 201, ""},
		{"GET /api/keys/%2Fapp%2Fa", 200, `{"key":"/app/a","value":"2","value_encoding":"string","value_bytes":1,"create_revision":2,"mod_revision":3,"version":2}`},
		{"GET /api/keys/%2Fapp%2Fb", 200, `"value":"/w==","value_encoding":"base64"`},
		{"GET /api/keys/%2Fapp%2Fc", 200, `"value":"","value_encoding":"string","value_bytes":0,"create_revision":5,"mod_revision":5,"version":1,"lease":"2a"}`},
		{"GET /api/keys/%FF", 200, `{"key":"/w==","key_encoding":"base64"`},
		{"GET /api/keys/none", 404, "no such key"},
		{"GET /api/keys?prefix=%2Fapp", 200, `"total":3,`},
		{"GET /api/keys?prefix=%2Fapp%2Fa", 200, `{"keys":[{"key":"/app/a","value_bytes":1,"create_revision":2,"mod_revision":3,"version":2}],"total":1,"revision":7}`},
		{"GET /api/keys?values=true&limit=1", 200, `"value":"2"`},
		{"GET /api/keys?values=maybe", 400, "values is true or false"},
		{"GET /api/keys?after=!", 400, "after is what"},
		{"GET /api/keys?prefix=b&after=YQ", 400, "after is what"}, // "a" is before the prefix
		{"GET /api/keys?limit=0", 400, "limit is"},
		{`PUT /api/keys/k {}`, 400, "value is missing"},
		{`PUT /api/keys/k {"value":"x","lease":"none"}`, 400, "hexadecimal"},
		{`PUT /api/keys/k {"value":"x","lease":"77"}`, 404, "no such lease"},
		{`PUT /api/keys/k {"value":"!","value_encoding":"base64"}`, 400, "not_base64"},
		{`PUT /api/keys/k {"value":"` + strings.Repeat("x", 2<<20) + `"}`, 413, "etcd_max_request_size"},
		{`PUT /api/keys/%2Fq%2Forders%2Fp%2Fx {"value":"x"}`, 400, "/api/queues"},
		{"DELETE /api/keys/%2Fapp%2Fa", 204, ""},
		{"DELETE /api/keys/%2Fapp%2Fa", 404, "no such key"},
	})
	var all []string
	for next, pages := "", 0; pages == 0 || next != ""; pages++ {
		_, body := resttest.Request(t, a, "GET /api/keys?limit=1&after="+next)
		var page Page
		if err := json.Unmarshal([]byte(body), &page); err != nil {
			t.Fatal(err)
		}
		for _, k := range page.Keys {
			all = append(all, k.Key)
		}
		next = page.Next
	}
	if got := strings.Join(all, " "); got != "/app/b /app/c /apq /w==" {
		t.Errorf("pages: %s", got)
	}
}

func TestOff(t *testing.T) {
	a := rest.New(resttest.OpenBroker(t), rest.Options{Log: resttest.Quiet})
	Register(a, nil)
	for _, text := range []string{"GET /api/keys", "GET /api/keys/k", `PUT /api/keys/k {"value":"x"}`, "DELETE /api/keys/k"} {
		if status, got := resttest.Request(t, a, text); status != 404 || !strings.Contains(got, "etcd's API is off") {
			t.Errorf("%s: %d %s", text, status, got)
		}
	}
}
