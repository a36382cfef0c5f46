package mbus

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker/enginetest"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// TestEveryErrorHasAnSQLState: an engine error without a row in sqlstates would be reported as an
// internal error.
func TestEveryErrorHasAnSQLState(t *testing.T) {
	ours, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		file, pkg string
		least     int
	}{{"../../../core/failure/errors.go", "failure", 20}, {"../../../semaphores/api.go", "semaphores", 8}} {
		text, err := os.ReadFile(of.file)
		if err != nil {
			t.Fatal(err)
		}
		names := regexp.MustCompile(`(?m)^\t(Err\w+)\s+= errors\.New`).FindAllStringSubmatch(string(text), -1)
		if len(names) < of.least {
			t.Fatalf("found %d errors of %s", len(names), of.pkg)
		}
		for _, n := range names {
			if !strings.Contains(string(ours), "{"+of.pkg+"."+n[1]+",") {
				t.Errorf("%s.%s has no SQLSTATE", of.pkg, n[1])
			}
		}
	}
}

func addUser(t *testing.T, b *broker.Broker, name, configure, write, read string) {
	t.Helper()
	if _, err := b.PutUser(catalog.UserSpec{Name: name, Password: "secret"}); err != nil {
		t.Fatal(err)
	}
	p := catalog.Permission{User: name, VHost: "/", Configure: configure, Write: write, Read: read}
	if _, err := b.SetPermission(p); err != nil {
		t.Fatal(err)
	}
}

func TestRights(t *testing.T) {
	b := openBroker(t, vfs.NewMem())
	defer enginetest.Close(t, b)
	addUser(t, b, "anna", "^$", "^open$", "^$")
	admin, anna := newCaller(t, b, "guest"), newCaller(t, b, "anna")
	admin.call("create_queue", "open", 1)
	admin.call("create_queue", "closed", 1)
	anna.call("post", "open", "n=>1")
	anna.fails("Access denied", "post", "closed", "n=>1")
	anna.fails("Access denied", "consume", "open")
	anna.fails("Access denied", "create_queue", "more", 1)
	anna.fails("Access denied", "drop_queue", "open")
	anna.fails("Access denied", "create_temporary_queue")

	const role = "mbus_fiveways_post_guarded"
	for range 2 { // a new queue of the same name has no members
		admin.call("create_queue", "guarded", 1, true)
		anna.fails("Access denied", "post", "guarded", "n=>1")
		if err := admin.s.GrantRole(admin.env, role, []string{"anna"}); err != nil {
			t.Fatal(err)
		}
		if err := admin.s.Commit(context.Background()); err != nil {
			t.Fatal(err)
		}
		anna.call("post", "guarded", "n=>1")
		anna.fails("Access denied", "consume", "guarded")
		if err := anna.s.GrantRole(anna.env, role, []string{"anna"}); err == nil {
			t.Error("a user gave herself a role")
		}
		admin.call("drop_queue", "guarded")
	}
}

func TestViewRights(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs)
	addUser(t, b, "anna", "^$", "^$", "^$")
	admin := newCaller(t, b, "guest")
	admin.call("create_queue", "q", 1)
	admin.call("create_view_prop", "q", "default", "public", "work", true, true)
	admin.call("post", "q", "n=>1", nil, "k=>v")
	open := func(c *caller) *view {
		r := c.s.Schemas()[2].Relation(c.env, "work")
		if r == nil {
			t.Fatal("the view is not there")
		}
		return r.(*view)
	}
	if err := open(admin).Grant(admin.env, "SELECT", []string{"anna"}); err != nil {
		t.Fatal(err)
	}
	if err := open(admin).Grant(admin.env, "SELECT", []string{"nobody"}); err == nil {
		t.Error("a right was given to nobody")
	}
	admin.s.Commit(context.Background())
	admin.s.Close()
	enginetest.Close(t, b)
	b = openBroker(t, fs)
	defer func() { enginetest.Close(t, b) }()
	anna := newCaller(t, b, "anna")
	for row, err := range open(anna).Scan(anna.env, nil) {
		if err != nil || len(row) != 4 {
			t.Errorf("row %v, %v", row, err)
		}
	}
	if _, err := open(anna).Insert(anna.env, make([]value.Datum, 4), nil); err == nil || err.Error() != "permission denied for view work" {
		t.Errorf("insert: %v", err)
	}
	if err := open(anna).Grant(anna.env, "ALL", []string{"anna"}); err == nil {
		t.Error("a user gave herself a right")
	}
	anna.s.Rollback()
	admin = newCaller(t, b, "guest")
	if err := open(admin).Revoke(admin.env, "ALL", []string{"anna"}); err != nil {
		t.Fatal(err)
	}
	admin.s.Commit(context.Background())
	for _, err := range open(anna).Scan(anna.env, nil) {
		if err == nil {
			t.Error("a row without the right to it")
		}
	}
	admin.consumes("q", `"n"=>"1"`)
}
