package web

import "testing"

// When the broker is gone the page says so, and keeps what it had.
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

// Who gets another password has to log in again, and hears why.
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
	p.reads("You were logged out: the broker does not take this login any more.")
	p.loginAs("bob", "second")
	p.readsIn("h1", "Jobs") // where he was
}
