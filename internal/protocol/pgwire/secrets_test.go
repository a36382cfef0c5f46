package pgwire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// TestCatalogOfDemoted: a user who loses the administrator tag during a session sees no more of
// users and virtual hosts than other users.
func TestCatalogOfDemoted(t *testing.T) {
	n := startRealNode(t, Options{})
	if _, err := n.b.PutUser(catalog.UserSpec{Name: "other", Password: "secret-of-other"}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.b.PutVHost(catalog.VHostSpec{Name: "elsewhere"}); err != nil {
		t.Fatal(err)
	}
	c := n.login()
	names := func(query string) string {
		c.send(&pgproto3.Query{String: query})
		return c.until("Z")
	}
	const users, databases = "select rolname from pg_roles", "select datname from pg_database"
	if u, d := names(users), names(databases); !strings.Contains(u, "other") || !strings.Contains(d, "elsewhere") {
		t.Errorf("an administrator sees %s, %s", u, d)
	}
	if err := n.b.RemoveUserTag("guest", "administrator"); err != nil {
		t.Fatal(err)
	}
	if u, d := names(users), names(databases); strings.Contains(u, "other") || strings.Contains(d, "elsewhere") {
		t.Errorf("anybody sees %s, %s", u, d)
	}
}

// TestNoSecretsAreTold: catalogs, settings, errors and the log reveal neither passwords nor their
// hashes.
func TestNoSecretsAreTold(t *testing.T) {
	n := startRealNode(t, Options{})
	const password = "open-sesame"
	n.user(catalog.UserSpec{Name: "u", Password: password})
	c := n.login()
	for _, text := range []string{
		"select * from pg_authid", "select * from pg_shadow", "select * from pg_stat_activity", "select * from pg_settings", "show all",
		"alter user u password '" + password + "'", "create role v login password '" + password + "'",
		"create user mapping for u server s options (password '" + password + "')",
		"select dblink('password=" + password + "')", "set password to '" + password + "'", "select mbus4.readme()",
	} {
		c.send(&pgproto3.Query{String: text})
		got := c.until("Z")
		if strings.Contains(got, password) && !strings.Contains(text, password) || strings.Contains(got, "SCRAM-SHA-256$") || strings.Contains(got, "argon2") {
			t.Errorf("%s: %s", text, got)
		}
		if strings.Contains(got, password) {
			t.Errorf("%s: repeated in %s", text, got)
		}
	}
	for _, right := range []bool{true, false} {
		given := password
		if !right {
			given += "x"
		}
		if _, err := n.connect("u", given); (err == nil) != right || err != nil && strings.Contains(err.Error(), password) {
			t.Errorf("login with %s: %v", given, err)
		}
	}
	if log := n.log.String(); strings.Contains(log, password) || strings.Contains(log, "SCRAM-SHA-256$") || strings.Contains(log, "argon2") {
		t.Errorf("the log has a secret: %s", log)
	}
}

// TestRunHasTheRightsOfItsCaller: the statement of a run function has the permissions of the
// caller, not those of the queue's owner.
func TestRunHasTheRightsOfItsCaller(t *testing.T) {
	n := startRealNode(t, Options{})
	admin := n.login()
	if _, err := n.b.PutUser(catalog.UserSpec{Name: "worker", Password: "secret"}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.b.SetPermission(catalog.Permission{User: "worker", VHost: "/", Write: "^dmq$"}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"select mbus4.create_queue('jobs', 1, true)", "select mbus4.create_queue('dmq', 1)", "select mbus4.create_queue('secret', 1)",
		"select mbus4.create_run_function('jobs')", "select mbus4.post('jobs', 'n=>1')", "select mbus4.post('secret', 'n=>2')",
		"grant mbus_fiveways_consume_jobs_by_default to worker",
	} {
		admin.send(&pgproto3.Query{String: text})
		if got := admin.until("Z"); strings.Contains(got, "E ERROR") {
			t.Fatal(text, got)
		}
	}
	worker, err := n.connect("worker", "secret")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := worker.Exec(t.Context(), "select mbus4.run_on_jobs('select ($1).iid, c.data from mbus4.consume(''secret'') c')").ReadAll()
	if err != nil || string(rows[0].Rows[0][0]) != "0" {
		t.Errorf("%v, %v", rows, err)
	}
	admin.query("select headers->'dmq.error' from mbus4.consume('dmq')", `T ?column?:25:0 / D "Access denied" / C SELECT 1 / Z I`)
	admin.query("select data from mbus4.messages('secret')", fmt.Sprintf(`T data:%d:0 / D "\"n\"=>\"2\"" / C SELECT 1 / Z I`, value.Hstore.OID))
}
