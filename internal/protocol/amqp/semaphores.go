package amqp

import (
	"encoding/json"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/amqperr"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/semaphores/semjson"
)

// Requests to semaphores: a client publishes them to the default exchange with a reserved queue
// name, and the answer goes to the queue in reply-to. The requests of one read are executed
// together, with one wait for the disk, when the read ends or another method follows.
const semaphoreQueue = "amq.semaphore"

// request is one request in progress.
type request struct {
	ch *channel
	semaphoreOp
	refused error  // why it cannot be executed
	seq     uint64 // number of the publish in confirm mode, otherwise 0

	replyTo       string // "": no answer is wanted
	correlationID string
	persistent    bool // the answer is as persistent as the request
}

// isRequestQueue reports whether a queue's name stands for requests to semaphores.
func (s *Server) isRequestQueue(name string) bool {
	return name == semaphoreQueue && s.o.Semaphores != nil
}

// request accepts a publish that is a request.
func (ch *channel) request(peek *message.Peek) error {
	c := ch.c
	if err := c.session.MayPublish(nil); err != nil {
		return err
	}
	r := &request{ch: ch, replyTo: string(peek.ReplyTo), correlationID: string(peek.CorrelationID), persistent: peek.Persistent()}
	if r.replyTo == replyQueue {
		if ch.replies == nil {
			return errNoReplies
		}
		r.replyTo = replyPrefix + ch.replies.mailbox
	}
	if err := c.checkUserID(peek); err != nil {
		return err
	}
	r.semaphoreOp, r.refused = c.readRequest(peek.Body)
	if ch.tx != nil {
		return ch.txRequest(r, len(peek.Body))
	}
	if ch.confirms != nil {
		ch.published++
		r.seq = ch.published
	}
	c.requests = append(c.requests, r)
	if r.change == nil {
		c.doRequests() // its answer reads the state, which must happen before the next change
	}
	return nil
}

// doRequests executes the collected requests, and answers them in order.
func (c *conn) doRequests() {
	if len(c.requests) == 0 {
		return
	}
	rs := c.requests
	c.requests = nil
	c.emitSettled()
	c.session.Flush() // earlier operations come first
	err := c.srv.o.Semaphores.Do(c.session, changesOf(rs)...)
	for _, r := range rs {
		ok := r.tell(err)
		if r.seq > 0 {
			r.ch.confirms.Confirmed(r.seq, r.seq, ok)
		}
	}
	c.session.Flush()
}

// changesOf returns the changes that the requests ask for.
func changesOf(rs []*request) []semaphores.Change {
	changes := make([]semaphores.Change, 0, len(rs))
	for _, r := range rs {
		if r.change != nil {
			changes = append(changes, r.change)
		}
	}
	return changes
}

// tell answers the request; err is the manager's, for all requests. It returns true if the request
// was executed, or if its sender will receive the refusal.
func (r *request) tell(err error) bool {
	switch {
	case r.refused != nil:
		err = r.refused
	case err == nil && r.err != nil:
		err = *r.err
	}
	wanted := r.replyTo != ""
	if err != nil {
		refusal := semjson.Refuse(err)
		if wanted {
			r.reply(refusal)
		}
		return wanted && !refusal.Unknown()
	}
	if wanted {
		r.reply(r.answer())
	}
	return true
}

// reply publishes an answer. An unroutable answer is lost.
func (r *request) reply(answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		panic(err) // answers are of types that can be marshalled, and priorities are finite
	}
	c := r.ch.c
	p := message.Properties{
		Flags: message.HasContentType, ContentType: "application/json", CorrelationID: r.correlationID,
	}
	if r.correlationID != "" {
		p.Flags |= message.HasCorrelationID
	}
	if r.persistent {
		p.Flags |= message.HasDeliveryMode
		p.DeliveryMode = message.Persistent
	}
	props, key := p.Append(nil), []byte(r.replyTo)
	if isReplyKey(key) {
		c.postReply(key, key, props, body)
		return
	}
	targets, err := c.session.Route(nil, key, &message.Peek{List: props, Body: body}, nil)
	if err != nil || targets.Empty() {
		return
	}
	c.session.Publish(&shard.Publish{Targets: targets, Env: c.envelope(nil, key, props, body), Persistent: r.persistent, TTL: -1, Reserved: true})
}

// weightOfRequest is roughly how many bytes of memory a decoded request takes for each of its
// bytes.
const weightOfRequest = 4

// txRequest keeps a request for the commit. A request that cannot be executed is refused at once.
func (ch *channel) txRequest(r *request, size int) error {
	if r.refused != nil {
		return r.refused
	}
	if err := ch.tx.grow(ch.c.srv, weightOfRequest*int64(size)); err != nil {
		return err
	}
	ch.tx.requests = append(ch.tx.requests, r)
	return nil
}

// refuseRequestQueue refuses methods that work on other queues.
func (ch *channel) refuseRequestQueue() error {
	return faultf(amqpcode.AccessRefused, "operation not permitted on %s: it only takes requests", amqperr.Resource("queue", semaphoreQueue, ch.c.session.VHost()))
}
