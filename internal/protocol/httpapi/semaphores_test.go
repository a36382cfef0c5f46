package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker/enginetest"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// openSemaphores opens a broker with semaphores.
func openSemaphores(t testing.TB) (*broker.Broker, *semaphores.Manager) {
	t.Helper()
	m := semaphores.New(semaphores.Options{Logger: resttest.Quiet})
	b := resttest.Open(t, vfs.NewMem(), func(o *broker.Options) { o.StateMachines = protocoltest.Machines(m, nil) })
	t.Cleanup(func() {
		m.Stop()
		enginetest.Close(t, b)
	})
	if err := m.Start(b); err != nil {
		t.Fatal(err)
	}
	return b, m
}

func TestSemaphores(t *testing.T) {
	b, m := openSemaphores(t)
	if _, err := b.PutVHost(catalog.VHostSpec{Name: "a/b"}); err != nil {
		t.Fatal(err)
	}
	resttest.Play(t, New(b, Options{Semaphores: m}), []resttest.Step{
		{"GET /api/semaphores", 200, `{"semaphores":[]}`},
		{"GET /api/semaphores/%2F", 200, `{"semaphores":[]}`},
		{"GET /api/semaphores/none", 404, `{"error":"not_found","reason":"vhost 'none': no such virtual host"}`},
		{"GET /api/semaphores/%2F/crowd", 404, `{"error":"not_found","reason":"semaphore 'crowd': no such semaphore"}`},
		{"PUT /api/semaphores/%2F/crowd", 201, ""},
		{"GET /api/semaphores/%2F/crowd", 200, `{"vhost":"/","key":"crowd","active":1000,"try_release":900,"order":"desc","lease":0,"waiting":0,"acquired":0,"try_release_asked":0}`},
		{`PUT /api/semaphores/%2F/crowd {"active":2,"try_release":1,"lease":60000}`, 204, ""},
		{`PUT /api/semaphores/%2F/crowd {}`, 204, ""}, // changes nothing
		{"GET /api/semaphores/%2F/crowd", 200, `"active":2,"try_release":1,"order":"desc","lease":60000`},
		{`PUT /api/semaphores/%2F/crowd {"actve":2}`, 400, `unknown field \"actve\"`},
		{`PUT /api/semaphores/%2F/crowd {"active":2}{}`, 400, "data after the request"},
		{`PUT /api/semaphores/%2F/crowd {"active":-1}`, 400, `"error":"bad_request"`},
		{`PUT /api/semaphores/%2F/crowd {"order":"up"}`, 400, "asc or desc"},
		{`PUT /api/semaphores/a%2Fb/other {"order":"asc","lease":0}`, 201, ""},
		{"GET /api/semaphores", 200, `"vhost":"/","key":"crowd"`},
		{"GET /api/semaphores?limit=1", 200, `"next":"%2F/crowd"`},
		{"GET /api/semaphores?limit=1&after=%252F%2Fcrowd", 200, `{"semaphores":[{"vhost":"a/b","key":"other","active":1000,"try_release":900,"order":"asc","lease":0,"waiting":0,"acquired":0,"try_release_asked":0}]}`},
		{"GET /api/semaphores?contains=oth", 200, `{"semaphores":[{"vhost":"a/b","key":"other"`},
		{"GET /api/semaphores?after=crowd", 400, "after is what"},
		{"GET /api/semaphores?limit=0", 400, "limit is a number"},
		{"POST /api/semaphores/%2F/crowd {}", 405, "DELETE, GET, HEAD, PUT"},

		{`POST /api/semaphores/%2F/crowd/tasks {"tasks":[{"task":"1","priority":5},{"task":2,"priority":7,"lease":1000},{"task":"three","priority":6}]}`, 200, `"added":3`},
		{"GET /api/semaphores/%2F/crowd/tasks?limit=2", 200, `{"tasks":[{"task":"2","status":"ACQUIRED","priority":7,"position":1,`},
		{"GET /api/semaphores/%2F/crowd/tasks?limit=2", 200, `"next":3}`},
		{"GET /api/semaphores/%2F/crowd/tasks?from=3", 200, `{"tasks":[{"task":"1","status":"WAIT","priority":5,"position":3,`},
		{"GET /api/semaphores/%2F/crowd/tasks?status=WAIT,TRY_RELEASE", 200, `{"tasks":[{"task":"1"`},
		{"GET /api/semaphores/%2F/crowd/tasks?status=RUNNING", 400, `there is no status`},
		{"GET /api/semaphores/%2F/crowd/tasks?from=0", 400, `from is a number`},
		{"GET /api/semaphores/%2F/crowd/tasks?task=9&task=1", 200, `{"tasks":[{"task":"9","status":null},{"task":"1","status":"WAIT"`},
		{"GET /api/semaphores/%2F/crowd", 200, `"waiting":1,"acquired":2,"try_release_asked":0`},
		{"GET /api/semaphores/%2F/crowd/tasks/three", 200, `"status":"ACQUIRED"`},
		{"GET /api/semaphores/%2F/crowd/tasks/nine", 404, `{"error":"not_found","reason":"task 'nine': no such task"}`},
		{`PUT /api/semaphores/%2F/crowd/tasks/1 {"priority":9}`, 200, `{"task":"1","status":"WAIT","priority":9,"position":1`},
		{"GET /api/semaphores/%2F/crowd/tasks/three", 200, `"status":"TRY_RELEASE"`},
		{`PUT /api/semaphores/%2F/crowd/tasks/4 {"priority":1}`, 201, `"status":"WAIT"`},
		{`PUT /api/semaphores/%2F/crowd/tasks/4 {}`, 400, "priority"},
		{`PUT /api/semaphores/%2F/crowd/tasks/4 {"priority":1e999}`, 400, "bad_request"},
		{`PUT /api/semaphores/%2F/crowd/tasks/4 {"priority":"high"}`, 400, "bad_request"},
		{`PUT /api/semaphores/%2F/crowd/tasks/4?wait=forever {"priority":1}`, 400, "wait is how long"},
		{`PUT /api/semaphores/%2F/crowd/tasks/4?wait=11m {"priority":1}`, 400, "at most 10m0s"},
		{`PUT /api/semaphores/%2F/none/tasks/4 {"priority":1}`, 404, "no such semaphore"},
		{`PUT /api/semaphores/%2F/crowd {"order":"asc"}`, 409, `"error":"conflict"`},
		{"DELETE /api/semaphores/%2F/crowd?if-empty=true", 409, "the semaphore has tasks"},
		{"DELETE /api/semaphores/%2F/crowd?if-empty=maybe", 400, "if-empty is true or false"},
		{`POST /api/semaphores/%2F/crowd/tasks/renew {"tasks":["2","1"]}`, 200, `{"renewed":["2"],"not_running":["1"]}`},
		{`POST /api/semaphores/%2F/crowd/tasks/release {"tasks":["three","nine"]}`, 200, `{"released":["three"],"missing":["nine"]}`},
		{"GET /api/semaphores/%2F/crowd/tasks/1", 200, `"status":"ACQUIRED"`},
		{"DELETE /api/semaphores/%2F/crowd/tasks/2", 204, ""},
		{"DELETE /api/semaphores/%2F/crowd/tasks/2", 404, "no such task"},
		{`POST /api/semaphores/%2F/crowd/tasks {"tasks":[{"task":"","priority":1}]}`, 400, `"error":"bad_request"`},
		{`POST /api/semaphores/%2F/crowd/tasks {"tasks":[{"task":"x"}]}`, 400, "priority"},
		{`POST /api/semaphores/%2F/crowd/tasks {"tasks":[]}`, 200, `{"tasks":[],"added":0}`},
		{`POST /api/semaphores/%2F/crowd/tasks/release {"tasks":null}`, 200, `{"released":[],"missing":[]}`},
		{`POST /api/semaphores/%2F/crowd/tasks/release {"tasks":[` + strings.Repeat("1,", semaphores.MaxEntries) + `1]}`, 413, "too_large"},
		{`PUT /api/semaphores/%2F/crowd/tasks/a%2Fb%20c {"priority":0}`, 201, `"task":"a/b c"`},
		{"DELETE /api/semaphores/%2F/crowd/tasks/a%2Fb%20c", 204, ""},
		{"PUT /api/semaphores/%2F/events", 201, ""}, // is an ordinary name
		{"GET /api/semaphores/%2F/events", 200, `"key":"events"`},
		{"DELETE /api/semaphores/%2F/events?if-empty=true", 204, ""},
		{"DELETE /api/semaphores/%2F/crowd", 204, ""},
		{"DELETE /api/semaphores/%2F/crowd", 404, "no such semaphore"},
	})
}

// Without a running broker there are no semaphores.
func TestSemaphoresAtRest(t *testing.T) {
	resttest.Play(t, New(resttest.OpenBroker(t), Options{}), []resttest.Step{
		{"GET /api/semaphores/%2F", 503, `while the broker runs only`},
		{"GET /api/semaphores", 503, `while the broker runs only`},
		{"GET /api/semaphores/%2F/k/events", 503, `while the broker runs only`},
	})
}

// Pages over many virtual hosts show each semaphore that the caller may see exactly once, whatever
// the page size.
func TestPagesOfSemaphores(t *testing.T) {
	b, m := openSemaphores(t)
	addUsers(t, b, "reader", "stranger")
	n := serve(t, b, Options{Semaphores: m}, ServerOptions{})
	var want []string
	for v := range 3 {
		vhost := fmt.Sprintf("v/%d", v)
		if _, err := b.PutVHost(catalog.VHostSpec{Name: vhost}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.SetPermission(catalog.Permission{User: "reader", VHost: vhost, Read: "^k.[02468]$"}); err != nil {
			t.Fatal(err)
		}
		s, err := b.Operate(vhost)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 10 * v { // the first virtual host has none
			create := semaphores.Create{Of: semaphores.Of{Key: fmt.Sprintf("k.%d", k%10)}}
			if k >= 10 {
				create.Key = fmt.Sprintf("z%d", k)
			}
			if err := m.Do(s, &create); err != nil || create.Err != nil {
				t.Fatal(err, create.Err)
			}
			if k < 10 && k%2 == 0 {
				want = append(want, vhost+" "+create.Key)
			}
		}
		s.Close()
	}
	for _, limit := range []int{1, 2, 3, 5, 9, 10, 11, 100} {
		var got []string
		for after := "?"; after != ""; {
			w := n.request(t, "GET", "/api/semaphores?limit="+fmt.Sprint(limit)+strings.TrimPrefix(after, "?"), "reader:reader", "")
			var page SemaphoreList
			if err := json.NewDecoder(w.Body).Decode(&page); err != nil || len(page.Semaphores) > limit {
				t.Fatalf("%d of %d, %v", len(page.Semaphores), limit, err)
			}
			for _, s := range page.Semaphores {
				got = append(got, s.VHost+" "+s.Key)
			}
			if after = ""; page.Next != "" {
				after = "&after=" + url.QueryEscape(page.Next)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("in pages of %d:\n got %q\nwant %q", limit, got, want)
		}
	}
	if got := textOf(t, n.request(t, "GET", "/api/semaphores", "stranger:stranger", "")); got != `{"semaphores":[]}` {
		t.Errorf("a stranger sees %s", got)
	}
}

// Each path needs its permission. Without it a caller does not learn whether the object exists.
func TestPermissionsOfSemaphores(t *testing.T) {
	b, m := openSemaphores(t)
	addUsers(t, b, "configure", "write", "read", "none", "stranger")
	for _, p := range []catalog.Permission{
		{User: "configure", VHost: "/", Configure: "^k$"}, {User: "write", VHost: "/", Write: "^k$"}, {User: "read", VHost: "/", Read: "^k$"}, {User: "none", VHost: "/"},
	} {
		if _, err := b.SetPermission(p); err != nil {
			t.Fatal(err)
		}
	}
	n := serve(t, b, Options{Semaphores: m}, ServerOptions{})
	put := func(path, body string) {
		t.Helper()
		if w := n.request(t, "PUT", path, "guest:guest", body); w.StatusCode >= 300 {
			t.Fatalf("%s: %d %s", path, w.StatusCode, textOf(t, w))
		}
	}
	for _, tc := range []struct{ method, path, body, need string }{
		{"GET", "", "", "read"}, {"PUT", "", "{}", "configure"}, {"DELETE", "", "", "configure"}, {"GET", "/tasks", "", "read"},
		{"GET", "/tasks?task=1", "", "read"}, {"POST", "/tasks", `{"tasks":[{"task":"2","priority":1}]}`, "write"},
		{"POST", "/tasks/release", `{"tasks":["1"]}`, "write"}, {"POST", "/tasks/renew", `{"tasks":["1"]}`, "write"},
		{"GET", "/tasks/1", "", "read"}, {"PUT", "/tasks/1", `{"priority":2}`, "write"}, {"PUT", "/tasks/2?wait=1ms", `{"priority":0}`, "write"},
		{"DELETE", "/tasks/1", "", "write"}, {"GET", "/events", "", "read"},
	} {
		for _, user := range []string{"configure", "write", "read", "none", "stranger", "guest"} {
			put("/api/semaphores/%2F/k", `{"active":1}`)
			put("/api/semaphores/%2F/k/tasks/1", `{"priority":1}`)
			w := n.request(t, tc.method, "/api/semaphores/%2F/k"+tc.path, user+":"+user, tc.body)
			if allowed := user == tc.need || user == "guest"; (w.StatusCode < 300) != allowed || !allowed && w.StatusCode != http.StatusForbidden {
				t.Errorf("%s %s by %s: %d %s", tc.method, tc.path, user, w.StatusCode, textOf(t, w))
			}
			w.Body.Close()
			if user == "guest" || user == tc.need {
				continue
			}
			other := n.request(t, tc.method, "/api/semaphores/%2F/other"+tc.path, user+":"+user, tc.body)
			if got := textOf(t, other); other.StatusCode != http.StatusForbidden {
				t.Errorf("%s %s of one that is not there, by %s: %d %s", tc.method, tc.path, user, other.StatusCode, got)
			}
		}
		wantsLogin(t, n, tc.method, "/api/semaphores/%2F/k"+tc.path, "")
	}
	wantsLogin(t, n, "GET", "/api/semaphores", "")
	wantsLogin(t, n, "GET", "/api/semaphores/%2F", "")
	wantsLogin(t, n, "GET", "/api/semaphore-events/%2F", "read:wrong")
	if got := textOf(t, n.request(t, "GET", "/api/semaphores/%2F", "write:write", "")); got != `{"semaphores":[]}` {
		t.Errorf("who may not read sees %s", got)
	}
}

// FuzzSemaphoreBodies: for any body the answer is JSON and no internal error, and the semaphore
// still works.
func FuzzSemaphoreBodies(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `null`, `[]`, `{"tasks":[{"task":"1","priority":5,"lease":0}]}`, `{"tasks":["1",2]}`, `{"priority":1e308,"lease":-1}`, `{"active":99999999999999999999}`,
		`{"active":1,"try_release":1,"order":"asc","lease":9223372036854775807}`, `{"tasks":[{"task":{},"priority":[]}]}`, "{\"tasks\":[\"\\u0000\",\"\xff\"]}",
	} {
		f.Add(seed)
	}
	b, m := openSemaphores(f)
	a := New(b, Options{Semaphores: m, Log: resttest.Quiet})
	f.Fuzz(func(t *testing.T, body string) {
		const k = "/api/semaphores/%2F/k"
		resttest.Request(t, a, "DELETE "+k)
		resttest.Request(t, a, "PUT "+k+" "+"{}")
		for _, at := range []string{"PUT " + k, "PUT " + k + "/tasks/1", "POST " + k + "/tasks", "POST " + k + "/tasks/release", "POST " + k + "/tasks/renew"} {
			method, path, _ := strings.Cut(at, " ")
			if code, got := resttest.Request(t, a, method+" "+path+" "+body); code >= 500 && code != http.StatusInsufficientStorage {
				t.Errorf("%s %q: %d %s", at, body, code, got)
			}
		}
		if code, got := resttest.Request(t, a, "PUT "+k+"/tasks/last"+" "+`{"priority":0}`); code >= 300 {
			t.Errorf("after %q: %d %s", body, code, got)
		}
	})
}
