package pgwire

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"fiveways/internal/broker"
)

// TestCatalogOfDemoted: who was an administrator when the session began sees no more of users and virtual hosts than others do.
func TestCatalogOfDemoted(t *testing.T) {
	n := startRealNode(t, Options{})
	if _, err := n.b.PutUser(broker.UserSpec{Name: "other", Password: "secret-of-other"}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.b.PutVHost(broker.VHostSpec{Name: "elsewhere"}); err != nil {
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

// TestNoSecretsAreTold: neither in the catalogs nor in settings nor in errors nor in the log is what a password is known by.
func TestNoSecretsAreTold(t *testing.T) {
	n := startRealNode(t, Options{})
	const password = "open-sesame"
	n.user(broker.UserSpec{Name: "u", Password: password})
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
