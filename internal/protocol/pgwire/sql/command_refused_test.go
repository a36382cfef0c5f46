package sql

import (
	"testing"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/parse"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
)

// TestRefusals: the error for an unsupported command suggests an alternative.
func TestRefusals(t *testing.T) {
	for text, hint := range map[string]string{
		"create user bob":             hintUsers,
		"alter user bob password 'x'": hintUsers,
		"drop role bob":               hintUsers,
		"create database shop":        hintDatabases,
		"drop database shop":          hintDatabases,
		"listen c":                    hintWait,
		"create table t (a int)":      hintQueues,
		"drop function f()":           "Queues, consumers and triggers are dropped with mbus4.drop_queue, drop_consumer and drop_trigger.",
		"create view v as select 1":   "Views of queues are made with mbus4.create_view(queue).",
	} {
		r, err := parse.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if e := refusal(tree.CommandName(r.Stmts[0].Stmt)); e.Code != "0A000" || e.Hint != hint {
			t.Errorf("%s: %s, hint %q; want %q", text, e.Message, e.Hint, hint)
		}
	}
}
