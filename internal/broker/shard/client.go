package shard

import "sync"

// Client is a session as shards see it: where its deliveries go.
type Client struct {
	Name, User string
	Sink       Sink
	Window     Window
	Late       bool // its sink gets persistent messages only once they are durable

	unsent []Output // with deliveries of the inline round; belongs to the session's goroutine

	mu        sync.Mutex
	consumers map[*Consumer]struct{}
}

// Add adds a consumer to the client's list.
func (c *Client) Add(k *Consumer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.consumers == nil {
		c.consumers = map[*Consumer]struct{}{}
	}
	c.consumers[k] = struct{}{}
}

// Forget removes a consumer from the client's list.
func (c *Client) Forget(k *Consumer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.consumers, k)
}

// TakeAll returns the consumers and empties the list.
func (c *Client) TakeAll() map[*Consumer]struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.consumers
	c.consumers = nil
	return all
}
