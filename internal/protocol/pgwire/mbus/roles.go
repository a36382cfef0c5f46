package mbus

import (
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
)

// GrantRole adds users to a role of the roles model. Membership is a user tag with the role's name.
func (s *Session) GrantRole(_ *expr.Env, role string, users []string) error {
	return s.changeRole(role, users, true)
}

// RevokeRole removes users from a role.
func (s *Session) RevokeRole(_ *expr.Env, role string, users []string) error {
	return s.changeRole(role, users, false)
}

func (s *Session) changeRole(role string, users []string, member bool) error {
	if !s.Superuser() {
		return pgerror.New(pgerror.InsufficientPrivilege, "must have admin option on role \"%s\"", role)
	}
	if !s.isRole(role) {
		return noSuchRole(role)
	}
	for _, u := range users {
		had, err := s.b.User(u)
		if err != nil {
			return noSuchRole(u)
		}
		if slices.Contains(had.Tags, role) == member {
			continue
		}
		if err := s.tagUser(u, role, member); err != nil {
			return err
		}
		s.change(step{undo: func() { s.tagUser(u, role, !member) }}) //nolint:errcheck // a rollback cannot report errors
	}
	return nil
}

func (s *Session) tagUser(user, role string, member bool) error {
	if member {
		return s.failed(s.b.AddUserTag(user, role))
	}
	return s.failed(s.b.RemoveUserTag(user, role))
}

// roleOf returns the role that a function of a queue with the roles model requires.
func (s *Session) roleOf(function string) string { return "mbus_" + s.database + "_" + function }

func postFunction(queueName string) string { return "post_" + queueName }

func consumeFunction(queueName, consumer string) string {
	return "consume_" + queueName + by + consumer
}

// endRoles removes the roles of these functions from all users, so that a new queue with a reused
// name starts without members.
func (s *Session) endRoles(functions ...string) error {
	for _, u := range s.b.Users() {
		for _, f := range functions {
			if role := s.roleOf(f); slices.Contains(u.Tags, role) {
				if err := s.b.RemoveUserTag(u.Name, role); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// isRole reports whether a queue with the roles model has a role of this name.
func (s *Session) isRole(role string) bool {
	function, ok := strings.CutPrefix(role, s.roleOf(""))
	if !ok {
		return false
	}
	g, ok := s.resolve(function)
	return ok && (g.kind == "post_" || g.kind == "consume_") && s.known().queues[g.queue].Roles
}

// endMemberships removes the roles of engine queues that are to be dropped from all users, so that
// a later queue of the same name does not inherit them.
func (s *Session) endMemberships(queues []string) error {
	var functions []string
	for _, q := range queues {
		name, consumer, ok := strings.Cut(q, ".")
		if !ok {
			consumer = defaultConsumer
			functions = append(functions, postFunction(name))
		}
		functions = append(functions, consumeFunction(name, consumer))
	}
	return s.endRoles(functions...)
}
