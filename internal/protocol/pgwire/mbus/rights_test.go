package mbus

import (
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker/enginetest"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// rightsCase is a call, and the users of rightsUsers who may make it.
type rightsCase struct {
	name    string
	args    []any
	allowed string
}

// rightsUsers are users without tags. The name of each lists the permissions (configure, write,
// read) that it has on everything.
var rightsUsers = []string{"none", "c", "w", "r", "wr", "cwr"}

const (
	anybody = "none c w r wr cwr"
	readers = "r wr cwr"
	writers = "w wr cwr"
	makers  = "c cwr"
	owners  = "cwr" // creating includes binding, which requires write on one side and read on the other
)

// rightsCases returns calls of all functions of the schema.
func rightsCases(iid string) []rightsCase {
	call := func(allowed, name string, args ...any) rightsCase { return rightsCase{name, args, allowed} }
	return []rightsCase{
		call(owners, "create_queue", "fresh", 1),
		call(owners, "create_queue", "plain", 1, true), // a queue and an exchange created over AMQP
		call(anybody, "create_queue", "q", 1),          // exists: no change
		call(makers, "drop_queue", "q"),
		call(makers, "drop_queue", "plain"),
		call(owners, "create_consumer", "q", "fresh"),
		call(anybody, "create_consumer", "q", "c", "t.data ? 'n'"),
		call(makers, "create_consumer", "q", "c", "true"), // exists: a user who may not create it is not told
		call(makers, "drop_consumer", "c", "q"),
		call(owners, "create_trigger", "q", "s"),
		call(owners, "create_trigger", "r", "q"), // a cycle: only a user who may create the trigger is told
		call(owners, "create_trigger", "q", "r", "1=1"),
		call(owners, "drop_trigger", "q", "r"),
		call(owners, "create_temporary_consumer", "q"),
		call(makers, "create_temporary_queue"),
		call(anybody, "clear_tempq"),
		call(makers, "create_view", "q"),
		call(makers, "create_view_prop", "q"),
		call(makers, "create_run_function", "s"),
		call(writers, "post", "q", "n=>1"),
		call(writers, "post", "plain", "n=>1"),
		call(writers, "post_q", "n=>1"),
		call(writers, "post_dmq", "n=>1"),
		call(anybody, "get_iid", "q"),
		call(readers, "consume", "q"),
		call(readers, "consume", "q", "c"),
		call(readers, "consume", "q.c"),
		call(readers, "consume", "plain"),
		call(readers, "dyn_consume", "q", "true"),
		call(readers, "consume_q_by_default"),
		call(readers, "consume_q_by_c"),
		call(readers, "consumen_q_by_default", 5),
		call(readers, "consumen_q_by_c", 5),
		call(readers, "take", iid),
		call(readers, "take_from_q_by_default", iid),
		call(readers, "take_from_q_by_c", iid),
		call(readers, "peek", iid),
		call(readers, "peek_q"),
		call(readers, "peek_q", iid),
		call(readers, "messages", "q"),
		call(readers, "messages", "q", "c"),
		call(readers, "messages", "q.c"),
		call(readers, "run_on_q", "select 1"),
		call(anybody, "is_msg_exists", iid),      // TestMessagesOfOthers checks the result
		call(anybody, "estimated_messages", "q"), // like a passive declaration in AMQP
		call(anybody, "clear_queue_q"),           // does nothing
		call(anybody, "readme"),
		call(anybody, "readme_rus"),
	}
}

// rightsNode starts a broker with a queue and a user of each kind.
func rightsNode(t *testing.T) (admin *caller, iid string) {
	t.Helper()
	b := openBroker(t, vfs.NewMem())
	t.Cleanup(func() { enginetest.Close(t, b) })
	pattern := func(user, letter string) string {
		if user != "none" && strings.Contains(user, letter) {
			return ".*"
		}
		return ""
	}
	for _, u := range rightsUsers {
		addUser(t, b, u, pattern(u, "c"), pattern(u, "w"), pattern(u, "r"))
	}
	admin = newCaller(t, b, "guest")
	for _, q := range []string{"q", "r", "s", "dmq"} {
		admin.call("create_queue", q, 4)
	}
	admin.call("create_consumer", "q", "c", "t.data ? 'n'")
	admin.call("create_trigger", "q", "r")
	admin.call("create_run_function", "q")
	admin.call("create_view", "r", "default", "public", "work")
	declarePlain(t, admin.s.own)
	return admin, admin.text("post", "q", "n=>1")
}

// TestEveryFunctionAsksForRights: posting requires write, receiving and looking require read,
// creating and dropping require configure.
func TestEveryFunctionAsksForRights(t *testing.T) {
	admin, iid := rightsNode(t)
	cases := rightsCases(iid)
	for _, u := range rightsUsers {
		for i := range cases {
			k := &cases[i]
			c := newCaller(t, admin.s.b, u)
			c.s.Run = runNothing
			c.begin()
			_, err := c.try(k.name, k.args...)
			denied := err != nil && err.Error() == "Access denied"
			if want := !slices.Contains(strings.Fields(k.allowed), u); denied != want {
				t.Errorf("%s: %s%v: %v; denied should be %v", u, k.name, k.args, err, want)
			}
			c.rollback()
			c.s.Close()
		}
	}
	for _, f := range admin.s.Schemas()[0].AllFunctions(admin.env) {
		tested := slices.ContainsFunc(cases, func(k rightsCase) bool { return k.name == f.Name })
		_, rest, _ := strings.Cut(f.Name, "_")
		if made := strings.HasSuffix(f.Name, "_q") || strings.HasPrefix(rest, "q_by_"); !tested && (made || f.OID < generatedOID) {
			t.Errorf("%s is not tested", f.Name)
		}
	}
}

// TestMessagesOfOthers: a user who may not read a queue does not learn whether a message is in it,
// and the list views do not show the queue.
func TestMessagesOfOthers(t *testing.T) {
	admin, iid := rightsNode(t)
	for _, u := range rightsUsers {
		c := newCaller(t, admin.s.b, u)
		if got, want := c.call("is_msg_exists", iid)[0][0] == true, strings.Contains(u, "r"); got != want {
			t.Errorf("%s: is_msg_exists gives %v", u, got)
		}
		for _, l := range listed {
			n := 0
			for _, err := range (&listIn{list: l}).Scan(c.env, nil) {
				if err != nil {
					t.Error(err)
				}
				n++
			}
			if (n > 0) != (u != "none") {
				t.Errorf("%s: %d rows of %s", u, n, l.name)
			}
		}
		own := newCaller(t, admin.s.b, u)
		if !strings.Contains(u, "w") {
			continue
		}
		own.begin() // the transaction may know of its own posts
		id := own.text("post", "q", "n=>2")
		if own.call("is_msg_exists", id)[0][0] != true {
			t.Errorf("%s: a post of its own is not there", u)
		}
		if !strings.Contains(u, "r") { // receiving them still requires read
			for _, f := range []string{"take", "peek", "take_from_q_by_default", "peek_q"} {
				own.fails("Access denied", f, id)
			}
		}
		own.rollback()
	}
}

// TestViewAsksForRights: without a grant, only the owner and administrators can use a view.
func TestViewAsksForRights(t *testing.T) {
	admin, _ := rightsNode(t)
	for _, u := range rightsUsers {
		c := newCaller(t, admin.s.b, u)
		v := c.s.Schemas()[2].Relation(c.env, "work").(*view)
		for _, err := range v.Scan(c.env, nil) {
			if e, ok := err.(*pgerror.Error); !ok || e.Code != pgerror.InsufficientPrivilege {
				t.Errorf("%s: select: %v", u, err)
			}
		}
		if _, err := v.Insert(c.env, make([]value.Datum, 1), nil); err == nil {
			t.Errorf("%s: an insert was let through", u)
		}
		if err := v.Revoke(c.env, "ALL", []string{u}); err == nil {
			t.Errorf("%s: revoke was let through", u)
		}
	}
}

// TestDemoted: a former administrator loses the rights in open sessions too.
func TestDemoted(t *testing.T) {
	admin, _ := rightsNode(t)
	b := admin.s.b
	admin.call("create_queue", "guarded", 1, true)
	if err := b.AddUserTag("cwr", "administrator"); err != nil {
		t.Fatal(err)
	}
	c := newCaller(t, b, "cwr")
	c.call("post", "guarded", "n=>1")
	if err := b.RemoveUserTag("cwr", "administrator"); err != nil {
		t.Fatal(err)
	}
	c.fails("Access denied", "post", "guarded", "n=>1")
	c.fails("Access denied", "consume", "guarded")
	if err := c.s.GrantRole(c.env, "mbus_fiveways_post_guarded", []string{"cwr"}); err == nil {
		t.Error("gave itself a role")
	}
	if c.s.Superuser() {
		t.Error("is still called a superuser")
	}
}
