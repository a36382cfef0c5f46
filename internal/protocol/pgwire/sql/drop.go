package sql

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
)

// dropCodes are the SQLSTATEs for objects that do not exist, by the kind that DROP names.
var dropCodes = map[pg.ObjectType]string{
	pg.ObjectType_OBJECT_TABLE: pgerror.UndefinedTable, pg.ObjectType_OBJECT_VIEW: pgerror.UndefinedTable,
	pg.ObjectType_OBJECT_MATVIEW: pgerror.UndefinedTable, pg.ObjectType_OBJECT_SEQUENCE: pgerror.UndefinedTable,
	pg.ObjectType_OBJECT_INDEX: pgerror.UndefinedObject, pg.ObjectType_OBJECT_FOREIGN_TABLE: pgerror.UndefinedObject,
	pg.ObjectType_OBJECT_SCHEMA: pgerror.InvalidSchema,
}

// drop plans DROP of relations and schemas, for scripts that begin with DROP IF EXISTS. Existing
// ones cannot be dropped.
func (p *planner) drop(n *pg.DropStmt) (*plan, error) {
	s, kind := p.s, tree.ObjectKind(n.RemoveType)
	name := "DROP " + strings.ToUpper(kind)
	code, ok := dropCodes[n.RemoveType]
	if !ok {
		return nil, s.refuse(name)
	}
	missing := make([]*pgerror.Error, len(n.Objects))
	for i, o := range n.Objects {
		if missing[i] = p.missing(o, kind, code); missing[i] == nil {
			return nil, s.refuse(name)
		}
	}
	made := s.simply(func() (string, error) {
		for _, e := range missing {
			if !n.MissingOk {
				return "", e
			}
			s.notice(pgerror.Notice("%s, skipping", e.Message))
		}
		return name, nil
	})
	made.writes = name
	return made, nil
}

// missing returns the error for an object that does not exist, or nil if it exists.
func (p *planner) missing(o *pg.Node, kind, code string) *pgerror.Error {
	parts := tree.Names(o.GetList().GetItems())
	if kind == "schema" {
		parts = []string{o.GetString_().GetSval(), ""}
	}
	name, in := parts[len(parts)-1], p.Env.Path
	if len(parts) > 1 {
		schema := parts[len(parts)-2]
		if in = []string{schema}; !p.Schemas.Has(schema) {
			return pgerror.New(pgerror.InvalidSchema, `schema "%s" does not exist`, schema)
		}
	}
	for _, schema := range p.Schemas.Named(in) {
		if kind == "schema" || schema.Relation(p.Env, name) != nil {
			return nil
		}
	}
	return pgerror.New(code, `%s "%s" does not exist`, kind, name)
}
