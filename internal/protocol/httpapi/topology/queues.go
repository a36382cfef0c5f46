package topology

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"fiveways.dev/fiveways/internal/amqperr"
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/declareargs"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// reservedPrefix is the prefix of names that clients cannot declare.
const reservedPrefix = "amq."

func (t *topology) queuePaths() {
	t.Get(rest.Management, "/api/queues", t.listQueues)
	t.Get(rest.Management, "/api/queues/detailed", t.listQueues)
	t.Get(rest.Management, "/api/queues/{vhost}", t.listQueues)
	t.Get(rest.Management, "/api/queues/{vhost}/{queue}", t.showQueue)
	t.Handle(rest.Management, "PUT /api/queues/{vhost}/{queue}", t.declareQueue)
	t.Delete(rest.Management, "/api/queues/{vhost}/{queue}", t.deleteQueue)
	t.Handle(rest.Administration, "POST /api/queues/{vhost}/{queue}/actions", t.actOnQueue)
	t.Get(rest.Management, "/api/queues/{vhost}/{queue}/bindings", func(r *http.Request) (any, error) {
		return t.bindings(r, func(s *broker.Session) ([]catalog.BindSpec, error) {
			name := rest.Name(r, "queue")
			if !s.HasQueue(name) {
				return nil, rest.ErrNotThere
			}
			return append([]catalog.BindSpec{toDefault(name)}, s.BindingsTo(name, false)...), nil
		})
	})
	t.Handle(rest.Administration, "POST /api/rebalance/queues", func(*http.Request) (rest.Answer, error) {
		return rest.Answer{Status: http.StatusNoContent}, nil // there is nothing to rebalance
	})
}

// showQueue shows one queue with its consumers.
func (t *topology) showQueue(r *http.Request) (out any, err error) {
	err = t.look(rest.Name(r, "vhost"), func(s *broker.Session) error {
		st, err := inspect.Queue(s, rest.Name(r, "queue"))
		if errors.Is(err, failure.ErrQueueNotFound) {
			return rest.ErrNotThere
		}
		if err != nil {
			return err
		}
		out = t.queueDetails(s, &st, r)
		return nil
	})
	return out, err
}

// queueChange is a queue to be declared. Other fields of RabbitMQ's tools, such as the name, repeat
// the path.
type queueChange struct {
	Durable    rest.Switch `json:"durable"`
	AutoDelete rest.Switch `json:"auto_delete"`
	Exclusive  rest.Switch `json:"exclusive"`
	Arguments  rest.Table  `json:"arguments"`
}

func (t *topology) declareQueue(r *http.Request) (rest.Answer, error) {
	var in queueChange
	if err := rest.DecodeOptional(r, &in); err != nil {
		return rest.Answer{}, err
	}
	return t.put(r, func(s *broker.Session) (there bool, err error) {
		name := rest.Name(r, "queue")
		there = s.HasQueue(name)
		return there, declareQueue(s, catalog.QueueSpec{
			Name: name, Durable: bool(in.Durable && !in.Exclusive), Exclusive: bool(in.Exclusive), AutoDelete: bool(in.AutoDelete),
			Args: message.Table(in.Arguments),
		})
	})
}

// declareQueue declares a queue as an AMQP client does.
func declareQueue(s *broker.Session, spec catalog.QueueSpec) error {
	if strings.HasPrefix(spec.Name, reservedPrefix) {
		return &failure.Error{Err: failure.ErrReservedName, Kind: "queue", Name: spec.Name, VHost: s.VHost()}
	}
	if err := s.MayConfigure("queue", spec.Name); err != nil {
		return err
	}
	if refused := declareargs.Declare(&spec); refused != nil {
		// An existing queue takes precedence.
		return cmp.Or(s.CompareQueue(&spec), rest.BadRequest(refused.Text(amqperr.Resource("queue", spec.Name, s.VHost()))))
	}
	_, err := s.DeclareQueue(spec)
	return err
}

// put creates an object in a virtual host unless it exists.
func (t *topology) put(r *http.Request, make func(s *broker.Session) (there bool, err error)) (rest.Answer, error) {
	status := http.StatusCreated
	err := t.In(r, rest.Name(r, "vhost"), func(_ context.Context, s *broker.Session) error {
		there, err := make(s)
		if there {
			status = http.StatusNoContent
		}
		return err
	})
	return rest.Answer{Status: status}, rest.ByChannel(err)
}

// notThere returns the error for an object that does not exist, once its deletion is durable.
func notThere(s *broker.Session) error {
	if err := s.AwaitRemovals(); err != nil {
		return err
	}
	return rest.ErrNotThere
}

func (t *topology) deleteQueue(r *http.Request) error {
	unused, err := rest.Truth(r, "if-unused")
	if err != nil {
		return err
	}
	empty, err := rest.Truth(r, "if-empty")
	if err != nil {
		return err
	}
	return rest.ByChannel(t.In(r, rest.Name(r, "vhost"), func(_ context.Context, s *broker.Session) error {
		name := rest.Name(r, "queue")
		if !s.HasQueue(name) {
			return notThere(s)
		}
		_, err := s.DeleteQueue(name, unused, empty)
		return err
	}))
}

// action is one of RabbitMQ's actions on queues.
type action struct {
	Action string `json:"action"`
}

// actOnQueue serves RabbitMQ's actions on mirrored queues. It does nothing, because no queue is
// mirrored.
func (t *topology) actOnQueue(r *http.Request) (rest.Answer, error) {
	var in action
	if err := rest.DecodeOptional(r, &in); err != nil {
		return rest.Answer{}, err
	}
	switch in.Action {
	case "sync", "cancel_sync":
	case "":
		return rest.Answer{}, rest.BadRequest("[{key_missing,action}]")
	default:
		return rest.Answer{}, rest.BadRequest("unknown action '" + in.Action + "'; there are sync and cancel_sync")
	}
	return rest.Answer{Status: http.StatusNoContent}, t.look(rest.Name(r, "vhost"), func(s *broker.Session) error {
		if !s.HasQueue(rest.Name(r, "queue")) {
			return rest.ErrNotThere
		}
		return nil
	})
}
