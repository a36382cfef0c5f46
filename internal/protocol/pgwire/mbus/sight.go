package mbus

import (
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/catalog"
)

// overseers are the tags of users who see all queues, as RabbitMQ's management shows them.
var overseers = []string{catalog.TagAdministrator, "monitoring", "policymaker", "management"}

// sight tells of which queues the views for people show something to the user: of all with a tag
// for that, else of those that the user may do something with, by a permission or by a role.
func (s *Session) sight() func(queueName string) bool {
	tags := s.tags()
	if slices.ContainsFunc(tags, func(t string) bool { return slices.Contains(overseers, t) }) {
		return func(string) bool { return true }
	}
	return func(queueName string) bool {
		if s.own.MayAnything(queueName) {
			return true
		}
		post, consume := s.roleOf(postFunction(queueName)), s.roleOf(consumeFunction(queueName, ""))
		return slices.ContainsFunc(tags, func(t string) bool { return t == post || strings.HasPrefix(t, consume) })
	}
}

// knowsOf reports whether a message is in a queue that the user may consume from, or was posted by
// the transaction itself.
func (s *Session) knowsOf(iid string) (bool, error) {
	switch {
	case !s.exists(iid, nil):
		return false, nil
	case s.posted(iid, nil), s.Superuser():
		return true, nil
	}
	for _, home := range s.homes(iid)[:1] { // most are there: others are not looked through
		if ok, err := s.reads(home, iid); ok || err != nil {
			return ok, err
		}
	}
	all, err := inspect.Queues(s.own)
	if err != nil {
		return false, s.failed(err)
	}
	for _, q := range all {
		if _, ordered := q.Args.Get(orderedArg); !ordered {
			continue
		}
		if ok, err := s.reads(q.Name, iid); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// reads reports whether the user may consume from a queue of the engine and a message is in it.
func (s *Session) reads(queueName, iid string) (bool, error) {
	base, consumer, part := strings.Cut(queueName, ".")
	if _, made := s.sqlQueue(base); !part || !made || isTemporary(queueName) {
		base, consumer = queueName, defaultConsumer
	}
	from, err := s.rights(queueName, consumeFunction(base, consumer))
	if err != nil || from.MayRead(queueName) != nil {
		return false, nil // for this user it is not there
	}
	_, ok, err := s.find(from, queueName, iid)
	return ok, err
}
