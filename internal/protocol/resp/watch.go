package resp

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
)

// watchQueues implements WATCH queue...: EXEC does nothing if one of the queues has changed by
// then.
func watchQueues(c *conn, args [][]byte) {
	if c.tx != nil {
		c.w.Error("ERR WATCH inside MULTI is not allowed")
		return
	}
	var looks []*broker.Look
	var cmds []broker.Command
	for _, name := range args[1:] {
		if _, ok := c.watched[string(name)]; !ok {
			looks = append(looks, &broker.Look{OnQueue: broker.OnQueue{Queue: string(name)}})
			cmds = append(cmds, looks[len(looks)-1])
		}
	}
	err := c.session.Do(cmds...)
	for _, l := range looks {
		if err == nil && l.Err != nil && !command.Missing(l.Err) {
			err = l.Err
		}
	}
	if err != nil {
		command.Fail(&c.w, err)
		return
	}
	if c.watched == nil {
		c.watched = map[string]shard.QueueVersion{}
	}
	for _, l := range looks {
		c.watched[l.Queue] = l.Version
	}
	c.w.OK()
}

func unwatch(c *conn, _ [][]byte) {
	c.watched = nil
	c.w.OK()
}

// conditions returns the conditions of EXEC: that no watched queue has changed.
func (c *conn) conditions() (all []*broker.Unchanged) {
	for name, version := range c.watched {
		all = append(all, &broker.Unchanged{OnQueue: broker.OnQueue{Queue: name}, Since: version})
	}
	return all
}
