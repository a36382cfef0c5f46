package queues

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
)

// makeTries is how often make recreates a queue that was deleted in the meantime.
const makeTries = 100

// find returns a registered consumer, or nil.
func (n *Namespace) find(queue, client []byte) *consumer {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.queues[string(queue)][string(client)]
}

// consumersOf returns the ready consumers of a queue.
func (n *Namespace) consumersOf(queue string) (all []*consumer) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	for _, c := range n.queues[queue] {
		if c.isMade() {
			all = append(all, c)
		}
	}
	return all
}

func (c *consumer) isMade() bool {
	select {
	case <-c.made:
		return c.err == nil
	default:
		return false
	}
}

// mine returns an error unless the caller owns the consumer.
func (c *consumer) mine(who Caller) error {
	if c.owner != who.User && !who.Root {
		return rpctypes.ErrGRPCPermissionDenied
	}
	return nil
}

// join finds or creates a consumer, and calls enter with consumer.mu held unless the consumer is
// leaving. It waits for a leaving consumer, so that the new one first gets the deliveries that the
// old one held.
func (n *Namespace) join(who Caller, queue, client string, enter func(*consumer)) (*consumer, error) {
	if err := who.Session.MayConsume(queue); err != nil {
		return nil, toStatus(err)
	}
	for {
		c, err := n.findOrMake(who, queue, client)
		if err != nil {
			return nil, err
		}
		if c.err != nil {
			continue // its creator failed: this caller may succeed
		}
		if err := c.mine(who); err != nil {
			return nil, err
		}
		c.mu.Lock()
		if !c.leaving {
			c.used = n.Now()
			enter(c)
			c.watchOver()
			c.mu.Unlock()
			return c, nil
		}
		c.mu.Unlock()
		<-c.gone
	}
}

// findOrMake finds or creates a consumer. One that it finds may have failed for another caller.
func (n *Namespace) findOrMake(who Caller, queue, client string) (*consumer, error) {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return nil, rpctypes.ErrGRPCStopped
	}
	if c := n.queues[queue][client]; c != nil {
		n.mu.Unlock()
		<-c.made
		return c, nil
	}
	c := newConsumer(n, who, queue, client)
	if n.queues[queue] == nil {
		n.queues[queue] = map[string]*consumer{}
	}
	n.queues[queue][client] = c
	n.mu.Unlock()
	c.err = toStatus(c.make(who))
	if c.err != nil {
		n.forget(c)
		close(c.gone)
	}
	close(c.made)
	return c, c.err
}

func newConsumer(n *Namespace, who Caller, queueName, client string) *consumer {
	return &consumer{
		n: n, queue: queueName, client: client, owner: who.User, made: make(chan struct{}), gone: make(chan struct{}),
		held: map[queue.Handle]held{}, created: n.Clock.Next(),
	}
}

// make starts consuming from the queue, and creates the queue if it does not exist.
func (c *consumer) make(who Caller) error {
	s, err := c.n.Broker.OperateLate(virtual.VHost, c)
	if err != nil {
		return err
	}
	c.session = s
	for range makeTries {
		if err = c.n.mayMake(who, c.queue); err == nil {
			err = s.MakeReadable(c.queue)
		}
		if err != nil {
			break
		}
		var engine *shard.Consumer
		engine, err = s.Consume(shard.ConsumerSpec{Queue: c.queue, Tag: c.client, Prefetch: c.n.ConsumerLimit})
		if err == nil {
			c.mu.Lock()
			if c.engine == nil {
				c.engine = engine
			}
			c.mu.Unlock()
			err = engine.Queue.AwaitDurable() // the ready messages are delivered then
			if err == nil || errors.Is(err, failure.ErrQueueNotFound) {
				return nil // Cancelled handles a deleted queue
			}
		}
		if !errors.Is(err, failure.ErrQueueNotFound) {
			break
		}
	}
	s.Close()
	return err
}

// forget removes a consumer from the registry.
func (n *Namespace) forget(c *consumer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.queues[c.queue], c.client)
	if len(n.queues[c.queue]) == 0 {
		delete(n.queues, c.queue)
	}
}

// leave ends a consumer: its watches end with reason, and its deliveries are requeued at their
// positions. A second call waits for the first.
func (c *consumer) leave(reason error) {
	<-c.made
	c.mu.Lock()
	if c.leaving || c.err != nil {
		c.mu.Unlock()
		<-c.gone
		return
	}
	c.leaving = true
	watches := c.watches
	c.watches = nil
	for _, w := range watches {
		w.ended = reason
	}
	if c.idle != nil {
		c.idle.Stop()
	}
	c.mu.Unlock()
	for _, w := range watches {
		w.ready()
	}
	c.n.unlease(c)
	c.session.Cancel(c.engine)
	c.mu.Lock()
	back := c.takeFree()
	c.mu.Unlock()
	c.giveBack(c.session, back)
	c.session.Close()
	c.n.forget(c)
	close(c.gone)
}

// watchOver starts the idle timer of a consumer that no watch or lease keeps. The caller holds
// c.mu.
func (c *consumer) watchOver() {
	if c.leaving || c.lease != 0 || len(c.watches) > 0 || c.idle != nil {
		return
	}
	c.idle = time.AfterFunc(c.n.ConsumerIdle, c.look)
}

// look ends the consumer if it was idle for long enough, and restarts the timer otherwise.
func (c *consumer) look() {
	c.mu.Lock()
	c.idle = nil
	kept := c.leaving || c.lease != 0 || len(c.watches) > 0
	wait := c.n.ConsumerIdle - c.n.Now().Sub(c.used)
	if !kept && wait > 0 {
		c.idle = time.AfterFunc(wait, c.look)
	}
	c.mu.Unlock()
	if !kept && wait <= 0 {
		c.leave(errLeft)
	}
}

// touch records a request of the consumer's client.
func (c *consumer) touch() {
	c.mu.Lock()
	c.used = c.n.Now()
	c.mu.Unlock()
}

// keep moves a consumer from its old lease to a new one; 0 means no lease.
func (n *Namespace) keep(c *consumer, old, lease int64) error {
	if old == lease {
		return nil
	}
	n.dropLease(c, old)
	if lease == 0 {
		return nil
	}
	n.mu.Lock()
	if n.leases[lease] == nil {
		n.leases[lease] = map[*consumer]struct{}{}
	}
	n.leases[lease][c] = struct{}{}
	n.mu.Unlock()
	if !n.LeaseExists(lease) { // it may have ended before it was registered here
		n.LeaseEnded(lease)
		return rpctypes.ErrGRPCLeaseNotFound
	}
	return nil
}

// MayEndLease checks that a caller may end a lease: the caller must own the consumers attached to
// it. Otherwise it returns a permission error.
func (n *Namespace) MayEndLease(who Caller, lease int64) error {
	n.mu.RLock()
	defer n.mu.RUnlock()
	for c := range n.leases[lease] {
		if err := c.mine(who); err != nil {
			return err
		}
	}
	return nil
}

// dropLease detaches a consumer from a lease.
func (n *Namespace) dropLease(c *consumer, lease int64) {
	if lease == 0 {
		return
	}
	n.mu.Lock()
	delete(n.leases[lease], c)
	if len(n.leases[lease]) == 0 {
		delete(n.leases, lease)
	}
	n.mu.Unlock()
}

// LeaseKeys returns the keys of the caller's consumers that are attached to a lease.
func (n *Namespace) LeaseKeys(who Caller, lease int64) (keys [][]byte) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	for c := range n.leases[lease] {
		if c.mine(who) == nil {
			keys = append(keys, c.name())
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	return keys
}

// unlease detaches a leaving consumer from its lease.
func (n *Namespace) unlease(c *consumer) {
	c.mu.Lock()
	lease := c.lease
	c.mu.Unlock()
	n.dropLease(c, lease)
}

// LeaseEnded is called when a lease was revoked or has expired. It does not wait for the
// consequences.
func (n *Namespace) LeaseEnded(lease int64) {
	n.mu.Lock()
	kept := n.leases[lease]
	delete(n.leases, lease)
	n.mu.Unlock()
	for c := range kept {
		go c.leaseEnded(lease)
	}
}

func (c *consumer) leaseEnded(lease int64) {
	c.mu.Lock()
	ends := c.lease == lease
	if ends {
		c.lease = 0
		ends = len(c.watches) == 0
	}
	c.mu.Unlock()
	if ends {
		c.leave(errLeft)
	}
}
