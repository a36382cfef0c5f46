package mbus

import (
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/catalog"
)

// overseers are the tags of users who can see all queues, as in RabbitMQ's management UI.
var overseers = []string{catalog.TagAdministrator, "monitoring", "policymaker", "management"}

// sight returns a function that reports whether the list views show a queue to the user. A user
// with an overseer tag sees all queues; another user sees the queues for which a permission or a
// role allows something.
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
	for _, home := range s.homes(iid)[:1] { // usually it is there, and the search ends
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

// reads reports whether the user may consume from an engine queue and the queue contains the
// message.
func (s *Session) reads(queueName, iid string) (bool, error) {
	base, consumer, part := strings.Cut(queueName, ".")
	if _, made := s.sqlQueue(base); !part || !made || isTemporary(queueName) {
		base, consumer = queueName, defaultConsumer
	}
	from, err := s.rights(queueName, consumeFunction(base, consumer))
	if err != nil || from.MayRead(queueName) != nil {
		return false, nil // invisible to this user
	}
	_, ok, err := s.find(from, queueName, iid)
	return ok, err
}
