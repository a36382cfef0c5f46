package tree

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// CommandName returns the name of a command in upper case, derived from the name of its node:
// CreateTableAsStmt is CREATE TABLE AS.
func CommandName(n *pg.Node) string {
	m := n.ProtoReflect()
	inner := m.WhichOneof(m.Descriptor().Oneofs().Get(0))
	if inner == nil {
		return "this statement"
	}
	if name, ok := commandNames[string(inner.Message().Name())]; ok {
		return name
	}
	var b strings.Builder
	for i, c := range strings.TrimSuffix(string(inner.Message().Name()), "Stmt") {
		if i > 0 && c >= 'A' && c <= 'Z' {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return strings.ToUpper(b.String())
}

// commandNames are the names of commands that differ from the names of their nodes.
var commandNames = map[string]string{
	"CreateStmt": "CREATE TABLE", "IndexStmt": "CREATE INDEX", "ViewStmt": "CREATE VIEW", "DefineStmt": "CREATE", "CompositeTypeStmt": "CREATE TYPE",
	"CreateSeqStmt": "CREATE SEQUENCE", "CreateTrigStmt": "CREATE TRIGGER", "RuleStmt": "CREATE RULE", "CreatedbStmt": "CREATE DATABASE",
	"DropdbStmt": "DROP DATABASE", "AlterObjectSchemaStmt": "ALTER", "RenameStmt": "ALTER", "CreateEnumStmt": "CREATE TYPE", "TruncateStmt": "TRUNCATE TABLE",
	"AlterRoleSetStmt": "ALTER ROLE", "AlterSystemStmt": "ALTER SYSTEM", "RefreshMatViewStmt": "REFRESH MATERIALIZED VIEW", "DeleteStmt": "DELETE",
	"CreateForeignServerStmt": "CREATE SERVER", "CreateFdwStmt": "CREATE FOREIGN DATA WRAPPER", "SecLabelStmt": "SECURITY LABEL",
	"CreatePlangStmt": "CREATE LANGUAGE", "MergeStmt": "MERGE", "ReassignOwnedStmt": "REASSIGN OWNED", "LoadStmt": "LOAD",
}

// ObjectKind returns the name of a kind of object in errors: "foreign table" for
// OBJECT_FOREIGN_TABLE.
func ObjectKind(t pg.ObjectType) string {
	if t == pg.ObjectType_OBJECT_MATVIEW {
		return "materialized view"
	}
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(t.String(), "OBJECT_"), "_", " "))
}
