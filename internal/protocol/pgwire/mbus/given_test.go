package mbus

import (
	"context"
	"errors"
	"testing"

	"fiveways.dev/fiveways/internal/broker/enginetest"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// postAs posts with a given iid.
func (c *caller) postAs(queueName, iid string) error {
	c.t.Helper()
	_, err := c.try("post", queueName, "n=>1", nil, nil, nil, nil, iid)
	return err
}

func codeOf(err error) string {
	var e *pgerror.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// TestGivenDeadlock: transactions that wait for each other's iids, or for an iid and a message, get
// a deadlock error.
func TestGivenDeadlock(t *testing.T) {
	for _, tc := range []struct {
		name   string
		hold   func(c *caller, iid string) error
		wanted func(c *caller, iid string) error
	}{
		{"iid and iid", func(c *caller, iid string) error { return c.postAs("q", iid) }, func(c *caller, iid string) error { return c.postAs("q", iid) }},
		{"message and iid", func(c *caller, iid string) error { _, err := c.try("take", iid); return err },
			func(c *caller, iid string) error { return c.postAs("q", iid) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, b, end := twoCallers(t)
			defer end()
			a.call("create_queue", "q", 4)
			if tc.name != "iid and iid" {
				for _, iid := range []string{"q.a", "q.b"} {
					if err := a.postAs("q", iid); err != nil {
						t.Fatal(err)
					}
				}
			}
			a.begin()
			b.begin()
			if err := errors.Join(tc.hold(a, "q.a"), tc.hold(b, "q.b")); err != nil {
				t.Fatal(err)
			}
			failed := make(chan error, 2)
			ask := func(c *caller, iid string) {
				err := tc.wanted(c, iid)
				if err != nil {
					c.rollback()
				}
				failed <- err
			}
			go ask(a, "q.b")
			go ask(b, "q.a")
			first, second := <-failed, <-failed
			if codeOf(second) == "40P01" { // both may fail, in either order
				first, second = second, first
			}
			// The surviving transaction gets the iid, or finds the message that the other's
			// rollback has put back.
			if want := map[bool]string{true: "", false: "23505"}[tc.name == "iid and iid"]; codeOf(first) != "40P01" || codeOf(second) != want {
				t.Errorf("errors %v, %v", first, second)
			}
		})
	}
}

// TestGivenWaitEnds: a wait for an iid ends with its statement and leaves nothing behind.
func TestGivenWaitEnds(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 4)
	a.begin()
	if err := a.postAs("q", "q.x"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.env.Ctx = ctx
	cancel()
	if err := b.postAs("q", "q.x"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	a.rollback()
	b.env.Ctx = context.Background()
	if err := b.postAs("q", "q.x"); err != nil {
		t.Error(err)
	}
}

// TestGivenAfterRestart: messages from before a restart still occupy their iids.
func TestGivenAfterRestart(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs)
	c := newCaller(t, b, "guest")
	c.call("create_queue", "q", 4)
	if err := c.postAs("q", "q.x"); err != nil {
		t.Fatal(err)
	}
	c.s.Close()
	enginetest.Close(t, b)
	b = openBroker(t, fs)
	defer enginetest.Close(t, b)
	c = newCaller(t, b, "guest")
	if err := c.postAs("q", "q.x"); codeOf(err) != "23505" {
		t.Errorf("error %v", err)
	}
	c.consumes("q", `"n"=>"1"`)
	if err := c.postAs("q", "q.x"); err != nil {
		t.Error(err)
	}
}

// TestGivenToWritersAlone: a user with write permission only also gets an error for an existing
// iid.
func TestGivenToWritersAlone(t *testing.T) {
	b := openBroker(t, vfs.NewMem())
	defer enginetest.Close(t, b)
	c := newCaller(t, b, "guest")
	c.call("create_queue", "q", 4)
	addUser(t, b, "writer", "^$", ".*", "^$")
	w := newCaller(t, b, "writer")
	if err := errors.Join(c.postAs("q", "q.x"), w.postAs("q", "q.y")); err != nil {
		t.Fatal(err)
	}
	for _, iid := range []string{"q.x", "q.y"} {
		if err := w.postAs("q", iid); codeOf(err) != "23505" {
			t.Errorf("%s: error %v", iid, err)
		}
	}
}

// TestGivenAndOtherProtocols: other protocols may publish duplicate ids. SQL can post with such an
// id once none of these messages is left.
func TestGivenAndOtherProtocols(t *testing.T) {
	b := openBroker(t, vfs.NewMem())
	defer enginetest.Close(t, b)
	c := newCaller(t, b, "guest")
	c.call("create_queue", "q", 4)
	p := message.Properties{Flags: message.HasMessageID, MessageID: "q.x"}
	publish(t, c.s.own, "q", "", "one", p)
	publish(t, c.s.own, "q", "", "two", p)
	if err := c.postAs("q", "q.x"); codeOf(err) != "23505" {
		t.Errorf("error %v", err)
	}
	c.call("consume", "q")
	if err := c.postAs("q", "q.x"); codeOf(err) != "23505" {
		t.Errorf("error %v", err)
	}
	c.call("consume", "q")
	if err := c.postAs("q", "q.x"); err != nil {
		t.Error(err)
	}
}
