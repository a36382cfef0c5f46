package resp

import (
	"errors"
	"maps"
	"slices"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// pubsubCommands returns the commands about channels.
func pubsubCommands() []command.Command {
	const about = command.PubSub | command.NoScript | anywhere | command.Subscribed
	return []command.Command{
		{Name: "subscribe", Arity: -2, Flags: about, Group: "pubsub", Since: "2.0.0", Summary: "Listen to channels",
			Now: on(func(c *conn, args [][]byte) { c.subscribe(&byChannel, args[1:]) })},
		{Name: "unsubscribe", Arity: -1, Flags: about, Group: "pubsub", Since: "2.0.0", Summary: "Stop listening to channels",
			Now: on(func(c *conn, args [][]byte) { c.unsubscribe(&byChannel, args[1:]) })},
		{Name: "psubscribe", Arity: -2, Flags: about, Group: "pubsub", Since: "2.0.0", Summary: "Listen to channels that match patterns",
			Now: on(func(c *conn, args [][]byte) { c.subscribe(&byPattern, args[1:]) })},
		{Name: "punsubscribe", Arity: -1, Flags: about, Group: "pubsub", Since: "2.0.0", Summary: "Stop listening to channels that match patterns",
			Now: on(func(c *conn, args [][]byte) { c.unsubscribe(&byPattern, args[1:]) })},
		{Name: "ssubscribe", Arity: -2, Flags: about, Group: "pubsub", Since: "7.0.0", Summary: "Listen to shard channels",
			Now: on(subscribeToShards)},
		{Name: "sunsubscribe", Arity: -1, Flags: about, Group: "pubsub", Since: "7.0.0", Summary: "Stop listening to shard channels",
			Now: on(func(c *conn, args [][]byte) { c.unsubscribe(&byShard, args[1:]) })},
		{Name: "publish", Arity: 3, Flags: command.PubSub | anywhere | command.Fast, Group: "pubsub", Since: "2.0.0", Summary: "Post a message to a channel",
			Now: on(publish)},
		{Name: "spublish", Arity: 3, Flags: command.PubSub | anywhere | command.Fast, Group: "pubsub", Since: "7.0.0",
			Summary: "Post a message to a shard channel", Now: on(publishToShard)},
		withHelp("6.2.0", command.Command{Name: "pubsub", Arity: -2, Group: "pubsub", Since: "2.8.0", Summary: "A container for commands about channels", Subs: []command.Command{
			{Name: "pubsub|channels", Arity: -2, Flags: command.PubSub | anywhere, Group: "pubsub", Since: "2.8.0", Summary: "List active channels",
				Now: on(func(c *conn, args [][]byte) { c.listChannels(&byChannel, args) })},
			{Name: "pubsub|shardchannels", Arity: -2, Flags: command.PubSub | anywhere, Group: "pubsub", Since: "7.0.0", Summary: "List active shard channels",
				Now: on(func(c *conn, args [][]byte) { c.listChannels(&byShard, args) })},
			{Name: "pubsub|numsub", Arity: -2, Flags: command.PubSub | anywhere, Group: "pubsub", Since: "2.8.0",
				Summary: "Get the count of subscribers for channels", Now: on(func(c *conn, args [][]byte) { c.countSubscribers(&byChannel, args[2:]) })},
			{Name: "pubsub|shardnumsub", Arity: -2, Flags: command.PubSub | anywhere, Group: "pubsub", Since: "7.0.0",
				Summary: "Get the count of subscribers for shard channels", Now: on(func(c *conn, args [][]byte) { c.countSubscribers(&byShard, args[2:]) })},
			{Name: "pubsub|numpat", Arity: 2, Flags: command.PubSub | anywhere, Group: "pubsub", Since: "2.8.0",
				Summary: "Get the count of unique patterns", Now: on(pubsubNumPat)},
		}}),
	}
}

// subscriptions holds what a connection is subscribed to in its virtual host.
type subscriptions struct {
	channels, patterns, shards map[string]struct{}
	watches                    map[watchName]*semaphoreWatch
}

// count returns the number of subscriptions as replies report it: all but those to shard channels.
func (s *subscriptions) count() int { return len(s.channels) + len(s.patterns) + len(s.watches) }

// any reports whether there are any subscriptions.
func (s *subscriptions) any() bool { return s.count()+len(s.shards) > 0 }

// listening describes one of the three kinds of subscription.
type listening struct {
	begun, ended string // the words in the replies
	of           func(*subscriptions) *map[string]struct{}
	in           func(*hub) map[topic]subscribers
	count        func(*subscriptions) int // the number of subscriptions reported in replies
}

var byChannel = listening{"subscribe", "unsubscribe",
	func(s *subscriptions) *map[string]struct{} { return &s.channels }, func(h *hub) map[topic]subscribers { return h.channels },
	(*subscriptions).count}

var byPattern = listening{"psubscribe", "punsubscribe",
	func(s *subscriptions) *map[string]struct{} { return &s.patterns }, func(h *hub) map[topic]subscribers { return h.patterns },
	(*subscriptions).count}

// byShard is the kind for shard channels. Redis Cluster keeps their messages within a shard. Like a
// Redis server without a cluster, this one only keeps them separate from other channels.
var byShard = listening{"ssubscribe", "sunsubscribe",
	func(s *subscriptions) *map[string]struct{} { return &s.shards }, func(h *hub) map[topic]subscribers { return h.shards },
	func(s *subscriptions) int { return len(s.shards) }}

// subscribe subscribes to the names and answers once for each.
func (c *conn) subscribe(l *listening, names [][]byte) {
	for _, b := range names {
		if l != &byPattern && c.session.MayListen(string(b)) != nil {
			c.w.Error(string(errNoPermChannel))
			return
		}
	}
	c.out.share()
	have := l.of(&c.subs)
	for _, b := range names {
		name := string(b)
		if _, already := (*have)[name]; already {
			c.told(l, l.begun, name)
			continue
		}
		if *have == nil {
			*have = map[string]struct{}{}
		}
		(*have)[name] = struct{}{}
		c.counted()
		c.flush()
		if l == &byChannel {
			c.srv.bridges.join(c.session, name)
		}
		text := respwire.Writer{RESP3: c.w.RESP3}
		subscription(&text, l.begun, name, l.count(&c.subs))
		c.srv.hub.add(l.in(&c.srv.hub), topic{c.session.VHost(), name}, c, text.Buf)
	}
}

// subscribeToShards implements SSUBSCRIBE channel [channel...]. As in Redis, it is not allowed in
// transactions.
func subscribeToShards(c *conn, args [][]byte) {
	if c.executing {
		c.w.Error("ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client")
		return
	}
	c.subscribe(&byShard, args[1:])
}

// unsubscribe answers once for each name. Without names it ends all subscriptions of this kind and
// answers once for each, or once if there is none.
func (c *conn) unsubscribe(l *listening, names [][]byte) {
	if len(names) == 0 {
		c.unsubscribeAll(l, true)
		return
	}
	for _, b := range names {
		c.drop(l, string(b))
		c.told(l, l.ended, string(b))
	}
}

// unsubscribeAll ends all subscriptions of one kind.
func (c *conn) unsubscribeAll(l *listening, tell bool) {
	names := slices.Sorted(maps.Keys(*l.of(&c.subs)))
	for _, name := range names {
		c.drop(l, name)
		if tell {
			c.told(l, l.ended, name)
		}
	}
	if tell && len(names) == 0 {
		c.confirm(func(w *respwire.Writer) {
			w.Push(3)
			w.BulkString(l.ended)
			w.Null()
			w.Int(int64(l.count(&c.subs)))
		})
	}
}

// dropAll ends all subscriptions without telling the client.
func (c *conn) dropAll() {
	for _, l := range []*listening{&byChannel, &byPattern, &byShard} {
		c.unsubscribeAll(l, false)
	}
	c.unwatchAll(false)
}

// drop ends a subscription, if it exists.
func (c *conn) drop(l *listening, name string) {
	if _, ok := (*l.of(&c.subs))[name]; ok {
		delete(*l.of(&c.subs), name)
		c.counted()
		c.srv.hub.remove(l.in(&c.srv.hub), topic{c.session.VHost(), name}, c)
		if l == &byChannel {
			c.srv.bridges.leave(topic{c.session.VHost(), name})
		}
	}
}

// counted publishes the numbers of subscriptions for other goroutines.
func (c *conn) counted() {
	c.subscribed[0].Store(int32(len(c.subs.channels)))
	c.subscribed[1].Store(int32(len(c.subs.patterns)))
	c.subscribed[2].Store(int32(len(c.subs.watches)))
	c.subscribed[3].Store(int32(len(c.subs.shards)))
}

// listens reports whether there are any subscriptions. Any goroutine may call it.
func (c *conn) listens() bool {
	return c.subscribed[0].Load()+c.subscribed[1].Load()+c.subscribed[2].Load()+c.subscribed[3].Load() > 0
}

func (c *conn) told(l *listening, what, name string) {
	c.confirm(func(w *respwire.Writer) { subscription(w, what, name, l.count(&c.subs)) })
}

func subscription(w *respwire.Writer, what, name string, count int) {
	w.Push(3)
	w.BulkString(what)
	w.BulkString(name)
	w.Int(int64(count))
}

// publish implements PUBLISH channel message. Subscribers of this protocol get the message at once.
// Queues bound to the exchange with the channel's name get it too.
func publish(c *conn, args [][]byte) {
	if !c.beforePublish(args[1]) {
		return
	}
	n, err := c.srv.bridges.publish(c.session, args[1], args[2])
	var noRoom command.Error
	switch {
	case errors.As(err, &noRoom):
		c.w.Error(string(noRoom))
		return
	case errors.Is(err, failure.ErrAccessRefused): // the routing key is not allowed
		c.w.Error(string(errNoPermChannel))
		return
	}
	n += c.srv.hub.publish(c.session.VHost(), string(args[1]), string(args[2]))
	c.w.Int(int64(n))
}

// publishToShard implements SPUBLISH channel message. Only the subscribers of the shard channel get
// the message, no exchange does.
func publishToShard(c *conn, args [][]byte) {
	if c.beforePublish(args[1]) {
		c.w.Int(int64(c.srv.hub.publishToShard(c.session.VHost(), string(args[1]), string(args[2]))))
	}
}

// beforePublish reports whether the client may publish to a channel, and writes the error if it may
// not.
func (c *conn) beforePublish(channel []byte) bool {
	if c.session.MayPublish(channel) != nil {
		c.w.Error(string(errNoPermChannel))
		return false
	}
	if c.subs.any() && !c.executing { // no messages appear within the answer of EXEC
		c.flush() // its own message must follow the answers to earlier commands
	}
	return true
}

// listChannels implements PUBSUB CHANNELS [pattern] and PUBSUB SHARDCHANNELS [pattern].
func (c *conn) listChannels(l *listening, args [][]byte) {
	pattern := "*"
	switch len(args) {
	case 2:
	case 3:
		pattern = string(args[2])
	default:
		c.w.Error(string(command.SubSyntax(args)))
		return
	}
	names := slices.DeleteFunc(c.srv.hub.listed(l, c.session.VHost(), pattern), func(name string) bool { return !c.mayKnow(name) })
	slices.Sort(names)
	c.w.Strings(names)
}

// countSubscribers implements PUBSUB NUMSUB [channel...] and PUBSUB SHARDNUMSUB [channel...].
func (c *conn) countSubscribers(l *listening, channels [][]byte) {
	c.w.Array(2 * len(channels)) // in RESP3 as well
	for _, channel := range channels {
		c.w.Bulk(channel)
		n := 0
		if name := string(channel); c.mayKnow(name) {
			n = c.srv.hub.count(l, c.session.VHost(), name)
		}
		c.w.Int(int64(n))
	}
}

// mayKnow reports whether the client may know that a channel has subscribers: it may subscribe to
// the channel, or publish to it.
func (c *conn) mayKnow(channel string) bool {
	return c.session.MayListen(channel) == nil || c.session.MayPublish([]byte(channel)) == nil
}

func pubsubNumPat(c *conn, _ [][]byte) { c.w.Int(int64(c.srv.hub.patternCount(c.session.VHost()))) }
