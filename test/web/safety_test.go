package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// evil becomes markup where text is not escaped.
const evil = `<img src=x onerror="document.title=1">`

// TestNothingBecomesMarkup checks that names, keys, headers, bodies and reasons from others are
// shown as text everywhere.
func TestNothingBecomesMarkup(t *testing.T) {
	s := openShop(t)
	quoted, err := json.Marshal(evil)
	must(t, err)
	escaped := strings.NewReplacer(`<`, "%3C", `>`, "%3E", `"`, "%22", " ", "%20", "=", "%3D").Replace(evil)
	s.api("PUT", "queues/%2F/"+escaped, `{}`)
	s.api("PUT", "exchanges/%2F/"+escaped, `{"type": "fanout"}`)
	s.api("POST", "bindings/%2F/e/"+escaped+"/q/"+escaped, fmt.Sprintf(`{"routing_key": %s, "arguments": {"x": %s}}`, quoted, quoted))
	s.api("POST", "queues/%2F/"+escaped+"/messages", fmt.Sprintf(`{"payload": %s, "properties": {"content_type": %s, "headers": {%s: %s}}}`, quoted, quoted, quoted, quoted))
	s.api("POST", "jobs/%2F/"+escaped+"-jobs", fmt.Sprintf(`{"id": %s, "payload": %s}`, quoted, quoted))
	s.api("PUT", "semaphores/%2F/"+escaped, `{"active": 1}`)
	s.api("PUT", "semaphores/%2F/"+escaped+"/tasks/"+escaped, `{"priority": 1}`)
	s.api("PUT", "keys/"+escaped, fmt.Sprintf(`{"value": %s}`, quoted))
	s.api("PUT", "users/"+escaped, fmt.Sprintf(`{"password": "x", "tags": %s}`, `"management"`))
	s.api("PUT", "vhosts/"+escaped, fmt.Sprintf(`{"description": %s}`, quoted))
	ch := s.client(evil)
	if _, err := ch.Consume(evil, evil, false, false, false, false, nil); err != nil {
		t.Fatal(err)
	}

	p := openAt(t, s.at)
	p.login()
	for _, view := range []string{
		"queues", "queues/%2F/" + escaped, "queues/%2F/" + escaped + "?tab=messages", "queues/%2F/" + escaped + "?tab=bindings", "exchanges", "exchanges/%2F/" + escaped,
		"exchanges/%2F/" + escaped + "?tab=bindings", "topology", "connections", "jobs", "jobs/%2F/" + escaped + "-jobs", "semaphores",
		"semaphores/%2F/" + escaped, "keys", "users", "users/" + escaped, "vhosts", "vhosts/" + escaped, "queues?name=" + escaped, "nowhere/" + escaped,
	} {
		p.showView(view)
		if strings.Contains(view, "tab=messages") {
			p.openMessage("onerror")
		}
		if n := ask[int](p, `document.querySelectorAll("main img, dialog img, .toasts img").length`); n != 0 {
			t.Errorf("%s: a text became %d pictures", view, n)
		}
		if view != "nowhere/"+escaped && !strings.Contains(ask[string](p, `document.querySelector("main").textContent + document.querySelector("input[type=search]")?.value`), "onerror") {
			t.Errorf("%s does not show the name", view)
		}
	}
	p.show("#/queues/%2F/" + escaped + "?tab=manage")
	p.press("Delete queue …")
	p.press("Delete queue", "Delete "+evil+"?")
	p.readsIn(".toasts", evil)
	if title := ask[string](p, `document.title`); title == "1" {
		t.Error("a script of a name has run")
	}
}

// TestContentSecurityPolicy checks the policy that is the second line of defence: even a script of
// the page cannot make markup of text, reach another host, or evaluate text.
func TestContentSecurityPolicy(t *testing.T) {
	s := openShop(t)
	p := openAt(t, s.at)
	p.login()
	p.tolerate("Content Security Policy", "Trusted")
	for what, script := range map[string]string{
		"innerHTML":       `(() => { try { document.body.innerHTML = "<b>x</b>"; return "done"; } catch { return ""; } })()`,
		"eval":            `(() => { try { const f = globalThis["ev" + "al"]; f("1"); return ""; } catch { return ""; } })()`,
		"another host":    `fetch("http://192.0.2.1/").then(() => "done", () => "")`,
		"a frame":         `new Promise((r) => { const f = document.createElement("iframe"); f.src = "http://192.0.2.1/"; document.body.append(f); addEventListener("securitypolicyviolation", () => { f.remove(); r(""); }, {once: true}); })`,
		"a script inline": `(() => { try { const s = document.createElement("script"); s.textContent = "document.title='1'"; document.body.append(s); return document.title === "1" ? "done" : ""; } catch { return ""; } })()`,
	} {
		if done := ask[string](p, script); done != "" {
			t.Errorf("%s is possible", what)
		}
	}
}

// TestLoginStaysInTheTab checks that the login is stored only in this tab: not in the address, in a
// cookie, or where other tabs find it.
func TestLoginStaysInTheTab(t *testing.T) {
	p := open(t)
	p.login()
	p.show("#/queues")
	for where, script := range map[string]string{
		"the address": `location.href`, "cookies": `document.cookie`, "localStorage": `JSON.stringify(localStorage)`, "the history": `JSON.stringify(history.state)`,
	} {
		text := ask[string](p, script)
		for _, secret := range []string{"Z3Vlc3Q6Z3Vlc3Q", "guest:guest"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s has the login: %s", where, text)
			}
		}
	}
	if kept := ask[string](p, `Object.keys(sessionStorage).join()`); kept != "fiveways.login" {
		t.Errorf("the tab keeps %s", kept)
	}

	answer, err := http.Get(p.base + "/")
	must(t, err)
	answer.Body.Close()
	for header, want := range map[string]string{
		"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Content-Security-Policy": "frame-ancestors 'none'",
	} {
		if got := answer.Header.Get(header); !strings.Contains(got, want) {
			t.Errorf("%s is %q, want %q", header, got, want)
		}
	}
}
