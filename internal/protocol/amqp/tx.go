package amqp

import (
	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/semaphores"
)

// transaction is what a channel in tx mode has collected since its last commit or rollback. Nothing
// of it reaches the engine before commit.
type transaction struct {
	posts    []txPost
	bytes    int64 // of their envelopes, and what requests take
	messages int   // publishes that had queues
	settled  []txSettled

	requests []*request // to semaphores
}

// txPost is a publish. Its exchange, bindings and permissions were checked when it arrived, as in
// RabbitMQ. The queues are looked up again at the commit.
type txPost struct {
	shard.Publish
	mandatory bool
	lost      bool // it is only to be returned
}

// txSettled is a delivery that the commit will end.
type txSettled struct {
	how settlement
	d   delivery
}

const (
	// maxTxMessages is how many messages of the largest size one transaction holds.
	maxTxMessages = 4
	// postOverhead is what a publish takes apart from its envelope, in bytes: its txPost, in an
	// array that grows, and at the commit an op.
	postOverhead = 512
	// minTxOverhead is how much of that any transaction may take, even if messages must be small.
	minTxOverhead = 128 << 20
)

func (ch *channel) selectTx() error {
	if ch.confirms != nil {
		return faultf(amqpcode.PreconditionFailed, "cannot switch from confirm to tx mode")
	}
	if ch.tx == nil {
		ch.tx = &transaction{}
	}
	return nil
}

func (t *transaction) settle(how settlement, ds []delivery) {
	for _, d := range ds {
		t.settled = append(t.settled, txSettled{how, d})
	}
}

// grow adds n bytes to the size of the transaction. It returns a fault if that is too much.
func (t *transaction) grow(s *Server, n int64) error {
	if t.bytes += n; t.bytes > maxTxMessages*s.o.MaxMessageSize {
		return faultf(amqpcode.PreconditionFailed, "the transaction holds more than %d bytes", maxTxMessages*s.o.MaxMessageSize)
	}
	return nil
}

// maxTxPosts returns how many publishes a transaction may hold, so that many small ones take no
// more than the same memory again.
func (s *Server) maxTxPosts() int {
	return int(max(maxTxMessages*s.o.MaxMessageSize, minTxOverhead) / postOverhead)
}

// add adds a publish.
func (t *transaction) add(s *Server, p txPost) error {
	if err := t.grow(s, int64(len(p.Env))); err != nil {
		return err
	}
	if most := s.maxTxPosts(); len(t.posts) >= most {
		return faultf(amqpcode.PreconditionFailed, "the transaction holds more than %d messages", most)
	}
	t.posts = append(t.posts, p)
	return nil
}

// txPublish adds a routed message.
func (ch *channel) txPublish(p *shard.Publish) error {
	ch.tx.messages++
	return ch.tx.add(ch.c.srv, txPost{Publish: *p, mandatory: ch.content.mandatory})
}

// post adds the publishes to tx, and returns those that go back to the client. A queue that was
// deleted meanwhile gets nothing; a new queue with its name does.
func (ch *channel) post(tx *broker.Tx) (returns []message.Envelope) {
	for i := range ch.tx.posts {
		p := &ch.tx.posts[i]
		if p.lost {
			returns = append(returns, p.Env)
			continue
		}
		key := ""
		if exchange, k, _, _ := p.Env.Split(); len(exchange) == 0 {
			key = string(k)
		}
		p.Targets = ch.c.session.Renew(p.Targets, key)
		switch {
		case !p.Targets.Empty():
			tx.Publish(&p.Publish)
		case p.mandatory:
			ch.counts.Returned++
			returns = append(returns, p.Env)
		default:
			ch.counts.Dropped++
		}
	}
	return returns
}

// commit executes the whole transaction or, on failure, nothing. In the latter case the channel
// closes, and the deliveries that it would have settled are ready again.
func (ch *channel) commit() error {
	t := ch.tx
	if t == nil {
		return faultf(amqpcode.PreconditionFailed, "channel is not transactional")
	}
	tx := ch.c.session.NewTx()
	returns := ch.post(tx)
	var run settled
	for _, s := range t.settled {
		if !run.add(s.how, s.d) {
			run.emit(tx)
			run.add(s.how, s.d)
		}
	}
	run.emit(tx)
	if err := ch.commitAll(tx, t.requests); err != nil {
		return err
	}
	for _, env := range returns {
		ch.sendReturn(env)
	}
	for _, r := range t.requests {
		r.tell(nil)
	}
	ch.tx = &transaction{}
	return nil
}

// commitAll commits tx together with the changes of requests.
func (ch *channel) commitAll(tx *broker.Tx, requests []*request) error {
	changes := changesOf(requests)
	if len(changes) == 0 {
		return tx.Commit()
	}
	return ch.c.srv.o.Semaphores.DoWith(ch.c.session, semaphores.Group{Tx: tx, Must: true}, changes...)
}

// rollback discards the transaction. The deliveries that it would have settled are unsettled again
// and still belong to the client.
func (ch *channel) rollback() error {
	if ch.tx == nil {
		return faultf(amqpcode.PreconditionFailed, "channel is not transactional")
	}
	ch.takeBack()
	ch.tx = &transaction{}
	return nil
}

// takeBack makes the settled deliveries of the transaction unsettled again.
func (ch *channel) takeBack() {
	ds := make([]delivery, len(ch.tx.settled))
	for i, s := range ch.tx.settled {
		ds[i] = s.d
	}
	ch.tx.settled = nil
	ch.c.out.mu.Lock()
	defer ch.c.out.mu.Unlock()
	ch.unacked.putBack(ds)
	ch.c.acks.armNow(ch.c) // they may be late already
}
