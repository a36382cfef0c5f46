// Package mailbox has the consumers without a queue, which carry the replies of request/reply: a
// message for one is delivered at once or lost.
package mailbox

import (
	"crypto/rand"
	"sync"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
)

// Directory finds the mailboxes of a broker by name. Its methods may be called by any goroutine.
type Directory struct {
	boxes sync.Map // name -> *box
}

type box struct {
	mu       sync.Mutex // one delivery at a time
	owner    *shard.Client
	consumer *shard.Consumer
}

// Open adds a mailbox of owner for the consumer, and returns a name that cannot be guessed.
func (d *Directory) Open(owner *shard.Client, c *shard.Consumer) (name string) {
	name = rand.Text()
	d.boxes.Store(name, &box{owner: owner, consumer: c})
	return name
}

// Close removes a mailbox. It need not exist.
func (d *Directory) Close(name string) { d.boxes.Delete(name) }

// Has reports whether a mailbox of that name is open.
func (d *Directory) Has(name string) bool {
	_, ok := d.boxes.Load(name)
	return ok
}

// Post delivers a message to a mailbox, on the goroutine of the caller. It returns false if the
// mailbox does not exist or its owner does not read.
func (d *Directory) Post(name string, env message.Envelope) bool {
	v, ok := d.boxes.Load(name)
	if !ok {
		return false
	}
	b := v.(*box)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.owner.Window.Full() {
		return false
	}
	b.owner.Sink.Deliver([]shard.Delivery{{Consumer: b.consumer, Env: env}})
	return true
}
