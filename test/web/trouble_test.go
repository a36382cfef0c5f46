package web

import (
	"regexp"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

// TestBrokerIsGone checks that the page says when the broker is gone, and keeps its data.
func TestBrokerIsGone(t *testing.T) {
	s := openShop(t)
	p := openAt(t, s.at)
	p.login()
	p.show("#/queues")
	p.readsIn("td", "orders.dead")
	p.tolerate("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE", "ERR_SOCKET_NOT_CONNECTED")
	s.Kill()
	p.typed("r")
	p.readsIn("[role=alert]", "The broker cannot be reached. Is it running?")
	p.readsIn("td", "orders.dead")
}

// nothing matches the page's texts about empty lists.
var nothing = regexp.MustCompile(`There (is|are) no|\bNo [a-z]+|\bNone\b|Nothing is|has no [a-z]+`)

// TestEmptyListsWhenTheBrokerIsGone checks that the page says of a list that was empty when the
// broker went that its contents are unknown now.
func TestEmptyListsWhenTheBrokerIsGone(t *testing.T) {
	b := brokertest.Run(t, everything...)
	s := &shop{t, "http://" + b.HTTPAddr(), b}
	p := openAt(t, s.at)
	p.login()
	p.do(evaluate(`(() => { const real = fetch;
		globalThis.fetch = (...request) => (globalThis.cut ? Promise.reject(new TypeError("cut off")) : real(...request)); })()`))
	look := func(views ...string) {
		for _, view := range views {
			p.showView(view)
			p.sees("/" + nothing.String() + "/.test(document.body.innerText)")
			p.do(evaluate(`globalThis.cut = true`))
			p.typed("r")
			p.readsIn("[role=alert]", "The broker cannot be reached. Is it running?")
			if said := p.text(); nothing.MatchString(said) {
				t.Errorf("%s: while the broker cannot be reached it says %q", view, nothing.FindString(said))
			}
			if n := ask[int](p, `document.querySelectorAll("[role=alert]").length`); n != 1 {
				t.Errorf("%s says %d times that the broker cannot be reached", view, n)
			}
			p.do(evaluate(`globalThis.cut = false`))
			p.typed("r")
			p.sees(`document.querySelector("[role=alert]") === null`)
		}
	}
	look("overview", "queues", "topology", "jobs", "connections", "channels", "semaphores", "keys", "policies", "exchanges/%2F/amq.fanout?tab=bindings")
	s.api("PUT", "queues/%2F/none", `{}`)
	s.api("PUT", "semaphores/%2F/crowd", `{}`)
	s.api("PUT", "vhosts/closed", `{}`)
	s.api("DELETE", "permissions/closed/guest", "")
	s.api("PUT", "users/nobody", `{"password": "x", "tags": ""}`)
	s.api("POST", "jobs/%2F/mails", `{"id": "one"}`)
	look("queues/%2F/none", "queues/%2F/none?tab=messages", "queues/%2F/none?tab=scheduled", "jobs/%2F/mails?state=locked", "semaphores/%2F/crowd", "vhosts/closed", "users/nobody")
}

func TestEmptyListAfterTheBrokerHasStopped(t *testing.T) {
	b := brokertest.Run(t, everything...)
	p := openAt(t, "http://"+b.HTTPAddr())
	p.login()
	p.show("#/queues")
	p.reads("There is no queue yet")
	p.tolerate("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE", "ERR_SOCKET_NOT_CONNECTED")
	must(t, b.Stop())
	p.typed("r")
	p.readsIn("[role=alert]", "The broker cannot be reached. Is it running?")
	p.sees(`!document.body.innerText.includes("There is no queue yet")`)
}

// TestAlarmIsOnEveryView checks that every view that a logged-in user can see says that publishers
// are blocked.
func TestAlarmIsOnEveryView(t *testing.T) {
	b := brokertest.Run(t, append(everything, "--disk-free-limit", "1000TiB")...)
	s := &shop{t, "http://" + b.HTTPAddr(), b}
	s.api("PUT", "users/bob", `{"password": "first", "tags": "management"}`)
	s.api("PUT", "queues/%2F/orders", `{}`)
	p := openAt(t, s.at)
	p.login()
	for _, view := range []string{"overview", "queues", "queues/%2F/orders", "exchanges", "topology", "jobs", "semaphores", "keys", "users", "definitions"} {
		p.showView(view)
		p.readsIn("[role=alert]", "The disk is nearly full: publishers are blocked")
		if n := ask[int](p, `document.querySelectorAll("[role=alert]").length`); n != 1 {
			t.Errorf("%s says it %d times", view, n)
		}
	}
	p.shot("alarm")
	bob := openAt(t, s.at)
	bob.loginAs("bob", "first")
	bob.show("#/queues")
	bob.readsIn("[role=alert]", "The disk is nearly full: publishers are blocked")
}

// TestPasswordIsChangedMeanwhile checks that a user whose password is changed has to log in again,
// and is told why.
func TestPasswordIsChangedMeanwhile(t *testing.T) {
	s := openShop(t)
	s.api("PUT", "users/bob", `{"password": "first", "tags": "management"}`)
	p := openAt(t, s.at)
	p.loginAs("bob", "first")
	p.show("#/jobs")
	p.readsIn("h1", "Jobs")
	p.tolerate("401")
	s.api("PUT", "users/bob", `{"password": "second", "tags": "management"}`)
	p.typed("r")
	p.reads("You were logged out: the broker no longer accepts this login.")
	p.loginAs("bob", "second")
	p.readsIn("h1", "Jobs") // the view on which the user was
}
