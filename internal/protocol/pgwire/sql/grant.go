package sql

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
)

// grant plans GRANT and REVOKE of privileges on relations.
func (p *planner) grant(n *pg.GrantStmt) (*plan, error) {
	word := "REVOKE"
	if n.IsGrant {
		word = "GRANT"
	}
	if n.Targtype != pg.GrantTargetType_ACL_TARGET_OBJECT {
		return nil, pgerror.Unsupported(word + " ON ALL")
	}
	switch n.Objtype {
	case pg.ObjectType_OBJECT_SCHEMA, pg.ObjectType_OBJECT_FUNCTION, pg.ObjectType_OBJECT_DATABASE, pg.ObjectType_OBJECT_ROUTINE:
		return nil, pgerror.Unsupported(word + " on anything but tables and views").
			WithHint("Rights on queues are the permissions of the virtual host, or the roles of create_queue(..., true).")
	case pg.ObjectType_OBJECT_TABLE:
	default:
		return nil, pgerror.Unsupported(word + " on anything but tables and views")
	}
	var on []schema.Grantable
	for _, o := range n.Objects {
		r, err := p.Relation(o.GetRangeVar())
		if err != nil {
			return nil, err
		}
		g, ok := r.(schema.Grantable)
		if !ok {
			return nil, pgerror.New(pgerror.WrongObjectType, `rights cannot be given on "%s"`, r.Name()).
				WithHint("Views made with mbus4.create_view take them.")
		}
		on = append(on, g)
	}
	rights, err := privileges(n.Privileges)
	if err != nil {
		return nil, err
	}
	users := roleNames(n.Grantees, p.s.opts.User)
	return &plan{writes: word, command: func(env *expr.Env) (query.Result, error) {
		for _, g := range on {
			for _, right := range rights {
				change := g.Revoke
				if n.IsGrant {
					change = g.Grant
				}
				if err := change(env, right, users); err != nil {
					return query.Result{}, err
				}
			}
		}
		return query.Result{Tag: word}, nil
	}}, nil
}

func privileges(list []*pg.Node) ([]string, error) {
	if len(list) == 0 {
		return []string{"ALL"}, nil
	}
	var all []string
	for _, item := range list {
		right := item.GetAccessPriv()
		if len(right.Cols) > 0 {
			return nil, pgerror.Unsupported("a right on columns")
		}
		name := strings.ToUpper(right.PrivName)
		switch name {
		case "SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER":
		default:
			return nil, pgerror.New("0LP01", "invalid privilege type %s for relation", name)
		}
		all = append(all, name)
	}
	return all, nil
}

// roleNames returns the users in a list of roles. PUBLIC is "public".
func roleNames(list []*pg.Node, user string) []string {
	var all []string
	for _, item := range list {
		role := item.GetRoleSpec()
		switch role.GetRoletype() {
		case pg.RoleSpecType_ROLESPEC_CSTRING:
			all = append(all, role.Rolename)
		case pg.RoleSpecType_ROLESPEC_PUBLIC:
			all = append(all, "public")
		default:
			all = append(all, user)
		}
	}
	return all
}

// grantRole plans GRANT role TO user.
func (p *planner) grantRole(n *pg.GrantRoleStmt) (*plan, error) {
	word := "REVOKE ROLE"
	if n.IsGrant {
		word = "GRANT ROLE"
	}
	roles := p.s.opts.Roles
	if roles == nil {
		return nil, pgerror.Unsupported(word)
	}
	var names []string
	for _, item := range n.GrantedRoles {
		names = append(names, item.GetAccessPriv().GetPrivName())
	}
	users := roleNames(n.GranteeRoles, p.s.opts.User)
	return &plan{writes: word, command: func(env *expr.Env) (query.Result, error) {
		for _, role := range names {
			change := roles.RevokeRole
			if n.IsGrant {
				change = roles.GrantRole
			}
			if err := change(env, role, users); err != nil {
				return query.Result{}, err
			}
		}
		return query.Result{Tag: word}, nil
	}}, nil
}
