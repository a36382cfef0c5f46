package messages

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/declareargs"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// maxProperties is the maximum size of properties and headers in bytes. They must fit into one AMQP
// frame, together with what is added when the message is dead-lettered.
const maxProperties = 112 << 10

// outgoing is a message that a request publishes.
type outgoing struct {
	exchange, key string
	props         message.Properties
	body          []byte
}

// prepared is a message whose properties have been checked.
type prepared struct {
	env       message.Envelope
	peek      message.Peek
	also      [][]byte // additional routing keys from the headers CC and BCC
	ttl       int64    // ms, -1 none
	notBefore int64    // unix ms, 0 none
}

// preconditionFailed returns a refusal for what AMQP would reject, in its words.
func preconditionFailed(format string, args ...any) error {
	return rest.BadRequest("406 " + amqpcode.Text(amqpcode.PreconditionFailed, fmt.Sprintf(format, args...)))
}

// prepare checks a message as an AMQP channel does.
func (m *outgoing) prepare(s *broker.Session) (p prepared, err error) {
	if p.also, err = extraKeys(m.props.Headers); err != nil {
		return p, err
	}
	m.props.Headers.Delete("BCC") // consumers must not see it
	if len(m.exchange) > message.MaxShortStr || len(m.key) > message.MaxShortStr {
		return p, rest.BadRequest(fmt.Sprintf("exchange and routing_key have at most %d bytes", message.MaxShortStr))
	}
	props := m.props.Append(nil)
	if len(props) > maxProperties {
		return p, rest.Fail(http.StatusRequestEntityTooLarge, "bad_request", fmt.Sprintf("properties and headers have at most %d bytes together", maxProperties))
	}
	env := make([]byte, 0, message.EnvelopeSize(len(m.exchange), len(m.key), len(props), len(m.body)))
	p.env = append(message.AppendEnvelopeHeader(env, m.exchange, m.key, props), m.body...)
	if p.peek, err = message.PeekProperties(p.env.Properties()); err != nil {
		return p, err
	}
	p.peek.Body = p.env.Body()
	if string(p.peek.ReplyTo) == amqpcode.ReplyQueue { // only a channel can receive the answer
		return p, preconditionFailed("fast reply consumer does not exist")
	}
	if mode := p.peek.DeliveryMode; m.props.Has(message.HasDeliveryMode) && mode != message.Transient && mode != message.Persistent {
		return p, preconditionFailed("invalid message: {delivery_mode_unknown,%d}", mode)
	}
	if p.peek.UserID != nil && string(p.peek.UserID) != s.User && !s.Impersonates() {
		return p, preconditionFailed("user_id property set to '%s' but authenticated user was '%s'", p.peek.UserID, s.User)
	}
	if p.ttl, err = timeToLive(&p.peek); err != nil {
		return p, err
	}
	if _, ok := m.props.Headers.Get(declareargs.NotBeforeName); ok {
		var reason string
		if p.notBefore, reason = declareargs.NotBefore(p.peek.Headers); reason != "" {
			return p, preconditionFailed("invalid '%s' header: %s", declareargs.NotBeforeName, reason)
		}
	}
	return p, nil
}

// timeToLive returns the message's own time to live in ms, or -1 if it has none.
func timeToLive(peek *message.Peek) (int64, error) {
	if peek.Expiration == nil {
		return -1, nil
	}
	ms, reason := declareargs.Expiration(peek.Expiration)
	if reason != "" {
		return -1, preconditionFailed("invalid expiration '%s': %s", peek.Expiration, reason)
	}
	return ms, nil
}

// extraKeys returns the routing keys in the headers CC and BCC.
func extraKeys(headers message.Table) (keys [][]byte, err error) {
	for _, name := range []string{"CC", "BCC"} {
		v, ok := headers.Get(name)
		if !ok {
			continue
		}
		list, ok := v.(message.Array)
		if !ok {
			return nil, preconditionFailed("invalid message: {unacceptable_type_in_header,%q,%s}", name, message.TypeName(v))
		}
		for _, k := range list {
			if key, ok := k.(string); ok {
				keys = append(keys, []byte(key))
			}
		}
	}
	return keys, nil
}

// publish publishes to an exchange, and returns when all queues have confirmed the message. routed
// is false if it reached no queue.
func (a *api) publish(ctx context.Context, s *broker.Session, m *outgoing) (routed bool, err error) {
	if err := a.heldBack(); err != nil {
		return false, err
	}
	p, err := m.prepare(s)
	if err != nil {
		return false, err
	}
	targets, err := s.Route([]byte(m.exchange), []byte(m.key), &p.peek, p.also)
	if err != nil {
		return false, err
	}
	reached := !targets.Empty()
	if targets.Buffered() && !s.Reaches([]byte(m.exchange), []byte(m.key), &p.peek, p.also) {
		reached = false
		if !targets.OnlyCopied() {
			targets = shard.Targets{}
		}
	}
	s.TapPublish(0, p.env, p.also, targets)
	if m.exchange == "" {
		p.postReplies(s, m.key)
	}
	if targets.Empty() {
		return false, s.AwaitRemovals()
	}
	c := &confirmation{left: targets.Parts(), ok: true, done: make(chan struct{})}
	out := &shard.Publish{
		Targets: targets, Env: p.env, Persistent: p.peek.Persistent(), Priority: p.peek.Priority, TTL: p.ttl, NotBefore: p.notBefore, Confirm: c, Seq: 1,
		Told: true,
	}
	if err := s.Reserve(out).Await(context.Background()); err != nil {
		return false, err
	}
	s.Publish(out)
	s.FlushInline()
	select {
	case <-c.done:
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	if !c.ok && a.Broker.LogFailed() {
		return false, failure.ErrLogFailed
	}
	return reached && c.ok, nil
}

// postReplies delivers a message on the default exchange to the mailboxes that its keys name, to
// each once.
func (p *prepared) postReplies(s *broker.Session, key string) {
	posted := map[string]bool{}
	for _, k := range append([][]byte{[]byte(key)}, p.also...) {
		if mailbox, direct := strings.CutPrefix(string(k), amqpcode.ReplyPrefix); direct && !posted[mailbox] {
			posted[mailbox] = true
			s.Post(mailbox, p.env)
		}
	}
}

// heldBack rejects a publish while the broker is blocked by an alarm: an HTTP request must not hang
// until disk space is freed.
func (a *api) heldBack() error {
	if alarm := a.Broker.Alarm(); alarm != nil {
		return rest.Fail(http.StatusServiceUnavailable, "unavailable", "publishers are blocked: "+alarm.Reason)
	}
	return nil
}

// confirmation collects the confirms of one message.
type confirmation struct {
	done chan struct{} // closed by the last confirm; then ok is final

	mu   sync.Mutex
	left int  // guarded by mu: outstanding confirms
	ok   bool // guarded by mu until done
}

// Confirmed implements shardlog.Confirmer.
func (c *confirmation) Confirmed(_, _ uint64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ok = c.ok && ok
	if c.left--; c.left == 0 {
		close(c.done)
	}
}

// errFull returns the refusal of a message by its only queue.
func errFull(err error, name string) error {
	if errors.Is(err, failure.ErrRejected) {
		return rest.Fail(http.StatusConflict, "rejected", "queue '"+name+"' is full and rejects new messages; consume some of its messages, or raise its max-length")
	}
	return err
}
