package oracle

import "strings"

// chainOf returns the number of the dead-letter chain of a queue or exchange, and its position in
// the chain.
func chainOf(name string) (chain, step int) {
	n := int(name[1] - '1')
	return n % 3, n / 3
}

// deadQueue returns the queue after q in its chain.
func deadQueue(q string) string {
	n := q[1] - '1'
	return "q" + string('1'+(n+3)%9)
}

// queueArgs returns valid arguments for a queue.
func (g *generator) queueArgs(q string) string {
	var args []string
	add := func(percent int, options ...string) {
		if g.chance(percent) {
			args = append(args, pick(g, options))
		}
	}
	add(25, "x-max-length=0", "x-max-length=1", "x-max-length=2", "x-max-length=3", "x-max-length=l:2")
	add(8, "x-max-length-bytes=0", "x-max-length-bytes=4", "x-max-length-bytes=7")
	add(25, "x-overflow=drop-head", "x-overflow=reject-publish", "x-overflow=reject-publish-dlx")
	add(12, "x-max-priority=0", "x-max-priority=1", "x-max-priority=5", "x-max-priority=10")
	add(10, "x-message-ttl=0", "x-message-ttl=3600000", "x-message-ttl=4000000000000")
	add(5, "x-expires=3600000")
	add(5, "x-queue-mode=lazy", "x-queue-mode=default", "x-queue-version=1", "x-queue-version=2", "x-queue-type=classic")
	add(8, "x-single-active-consumer=true", "x-single-active-consumer=false")
	add(5, "x-other=1", "x-ha-policy=all")
	if g.chance(50) {
		next := deadQueue(q)
		exchange := "x" + next[1:]
		switch g.IntN(4) {
		case 0:
			args = append(args, "x-dead-letter-exchange="+exchange)
		case 1:
			args = append(args, "x-dead-letter-exchange="+exchange, "x-dead-letter-routing-key="+next)
		default:
			args = append(args, `x-dead-letter-exchange=""`, "x-dead-letter-routing-key="+next)
		}
	}
	if len(args) == 0 {
		return ""
	}
	return "arguments={" + strings.Join(args, " ") + "}"
}

// badQueueArgs are arguments that are mostly invalid.
var badQueueArgs = []string{
	"x-max-length=-1", "x-max-length=many", "x-max-length=true", "x-max-length=d:1.5", "x-max-length-bytes=-5", "x-max-length-bytes=[1]",
	"x-message-ttl=-1", "x-message-ttl=soon", "x-message-ttl=d:0.5", "x-expires=0", "x-expires=-1", "x-expires=never", "x-max-priority=256",
	"x-max-priority=-1", "x-max-priority=high", "x-overflow=drop-tail", "x-overflow=1", "x-dead-letter-routing-key=k",
	"x-dead-letter-exchange=5", `x-dead-letter-exchange="" x-dead-letter-routing-key=5`, "x-queue-mode=eager", "x-queue-mode=1",
	"x-queue-version=3", "x-queue-version=two", "x-queue-type=5", "x-queue-type=slow", "x-single-active-consumer=yes",
	"x-message-ttl=b:5", "x-max-length=B:3", "x-max-length=s:2", "x-max-length=u:2", "x-max-length=i:2", "x-max-length=L:2",
	"x-max-length=T:2", "x-max-length=x:2", "x-max-length=f:2.5", "x-max-length={}",
}

func (g *generator) declareQueue(q, args string) string {
	return g.anywhere("queue.declare queue="+q, g.sometimes(3, "durable"), g.sometimes(2, "exclusive"), g.sometimes(2, "auto-delete"),
		g.sometimes(3, "no-wait"), args)
}

// anyDeclareQueue declares a queue, declares it passively, redeclares it with other arguments, or
// uses invalid ones.
func (g *generator) anyDeclareQueue() string {
	q := pick(g, allQueues)
	switch g.IntN(20) {
	case 0, 1:
		return g.anywhere("queue.declare queue="+q, "passive", g.sometimes(10, "exclusive"), g.sometimes(10, "durable"))
	case 2:
		return g.anywhere("queue.declare queue="+q, "arguments={"+pick(g, badQueueArgs)+"}")
	case 3:
		return g.anywhere("queue.declare queue="+q, g.queueArgs(q))
	case 4:
		return g.anywhere("queue.declare queue="+q, g.sometimes(50, "durable"), g.sometimes(50, "exclusive"), g.sometimes(50, "auto-delete"))
	case 5:
		return g.anywhere("queue.declare", g.sometimes(30, "exclusive"), g.sometimes(30, "auto-delete"), g.sometimes(10, "passive"))
	case 6:
		return g.anywhere("queue.declare queue=" + pick(g, []string{"amq.mine", "amq.rabbitmq.reply-to"}) +
			g.sometimes(50, "passive"))
	default:
		return g.declareQueue(q, g.args[q])
	}
}

func (g *generator) declareExchange(x string) string {
	kind := pick(g, exchangeTypes)
	if _, step := chainOf(x); step == 0 && g.chance(70) {
		kind = exchangeTypes[x[1]-'1'] // mostly the same
	}
	args := ""
	if _, step := chainOf(x); step == 0 && g.chance(15) {
		args = "arguments={alternate-exchange=" + pick(g, liveExchanges) + "}"
	}
	return g.anywhere("exchange.declare exchange="+x, "type="+kind, g.sometimes(5, "durable"), g.sometimes(5, "auto-delete"),
		g.sometimes(5, "internal"), g.sometimes(5, "no-wait"), args)
}

func (g *generator) anyDeclareExchange() string {
	switch g.IntN(12) {
	case 0:
		return g.anywhere("exchange.declare passive exchange="+pick(g, liveExchanges), g.sometimes(30, "type=topic"))
	case 1:
		return g.anywhere("exchange.declare", pick(g, []string{"exchange=amq.new type=direct", "type=direct", "exchange=amq.direct type=direct durable",
			"exchange=amq.direct type=fanout", "exchange=amq.direct passive", "exchange=amq.gone passive", "exchange=amq.rabbitmq.trace passive",
			"exchange=x1 type=topic arguments={alternate-exchange=5}", "exchange=x1 type=direct arguments={other=5}", "passive"}))
	case 2, 3:
		return g.declareExchange(pick(g, deadExchanges))
	default:
		return g.declareExchange(pick(g, liveExchanges))
	}
}

// bindingArgs are for headers exchanges, and have no effect elsewhere.
var bindingArgs = []string{
	"", "", "", "arguments={h=1}", "arguments={h=1 g=a x-match=any}", "arguments={h=1 g=a x-match=all}", "arguments={h=void}",
	"arguments={x-h=1 x-match=all-with-x}", "arguments={x-h=1 h=2 x-match=any-with-x}", "arguments={x-match=any}", "arguments={x-match=some}",
	"arguments={x-match=5}", "arguments={h=true}", "arguments={h=d:1}", "arguments={h=l:1}",
}

// bindingKeys are patterns for topic exchanges.
var bindingKeys = []string{"k", "a.b", "a.*", "#", "*.b", "a.#", "#.c", "*", "a.#.c", `""`, "q1", "b", "*.*", "a.b.#"}

// bindQueueTo returns a line that binds a suitable queue to the exchange.
func (g *generator) bindQueueTo(x string) string {
	q := g.liveQueue()
	if _, step := chainOf(x); step > 0 {
		q = "q" + x[1:]
	}
	return g.anywhere("queue.bind queue="+q, "exchange="+x, "routing-key="+pick(g, bindingKeys), pick(g, bindingArgs), g.sometimes(3, "no-wait"))
}

func (g *generator) bindQueue() string {
	switch g.IntN(12) {
	case 0:
		return g.anywhere("queue.bind", "queue="+g.liveQueue(), pick(g, []string{"", "exchange=amq.gone", "exchange=amq.direct routing-key=q1",
			"exchange=amq.topic routing-key=q2"}))
	case 1:
		return g.anywhere("queue.bind", "exchange="+pick(g, liveExchanges), g.sometimes(50, "routing-key=k"))
	case 2, 3:
		return g.bindQueueTo(pick(g, deadExchanges))
	default:
		return g.bindQueueTo(pick(g, liveExchanges))
	}
}

func (g *generator) unbindQueue() string {
	return strings.ReplaceAll(strings.ReplaceAll(g.bindQueue(), "queue.bind", "queue.unbind"), " no-wait", "")
}

func (g *generator) bindExchange() string {
	verb := pick(g, []string{"exchange.bind", "exchange.bind", "exchange.unbind"})
	source, destination := pick(g, liveExchanges), pick(g, liveExchanges)
	if g.chance(3) {
		source, destination = pick(g, []string{"amq.gone", `""`, source}), pick(g, []string{"amq.gone", `""`})
	}
	return g.anywhere(verb, "source="+source, "destination="+destination, "routing-key="+pick(g, bindingKeys), pick(g, bindingArgs))
}

func (g *generator) deleteQueue() string {
	if g.chance(5) {
		return g.anywhere("queue.delete", g.sometimes(30, "if-unused"))
	}
	return g.anywhere("queue.delete queue="+pick(g, allQueues), g.sometimes(40, "if-unused"), g.sometimes(40, "if-empty"), g.sometimes(5, "no-wait"))
}

func (g *generator) purgeQueue() string {
	if g.chance(5) {
		return g.anywhere("queue.purge")
	}
	return g.anywhere("queue.purge queue="+g.someQueue(), g.sometimes(5, "no-wait"))
}

func (g *generator) deleteExchange() string {
	x := pick(g, append(liveExchanges, "x4", "x5", "amq.direct", `""`))
	return g.anywhere("exchange.delete exchange="+x, g.sometimes(40, "if-unused"), g.sometimes(5, "no-wait"))
}
