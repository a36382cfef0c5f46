package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	headerTables = []string{
		"{h=1}", "{h=2 g=a}", "{h=1 x-h=1}", "{h=d:1}", "{h=l:1}", "{h=true}", "{h=void}", "{g=a}", "{}", `{h=x:1 A=[1,{b=void},"c"]}`,
		"{I=I:-5 l=l:-5 b=b:-1 B=B:2 s=s:-3 u=u:3 i=i:4 f=f:1.5 d=d:2.5 D=D:7 T=T:9 t=true F={deep={}}}",
		"{CC=[q2]}", "{CC=[q2,q3,q2]}", "{BCC=[q3]}", "{CC=[q1] BCC=[q2,q1]}", "{CC=[k,a.b]}", "{CC=q2}", "{BCC=5}", "{CC=[5]}", "{CC=[]}",
		"{x-other=5}",
	}
	properties = []string{
		"content-type=text/plain", "content-encoding=gzip", "correlation-id=c", "reply-to=there", "message-id=i", "timestamp=1700000000",
		"type=t", "app-id=a", "cluster-id=c", "user-id=guest", `content-type=""`, "priority=0", "priority=255",
	}
	badProperties = []string{
		"user-id=somebody", "expiration=soon", "expiration=-1", "expiration=5x", `expiration=""`, "delivery-mode=3", "delivery-mode=0",
		"headers={CC=5}", "expiration=99999999999", "reply-to=amq.rabbitmq.reply-to",
	}
	sizes = []string{"size=0", "size=4088", "size=4089", "size=70000", "size=131064", "size=131065", "size=300000"}
)

// publish publishes to a queue or an exchange.
func (g *generator) publish() string {
	target := "key=" + g.liveQueue()
	switch n := g.IntN(100); {
	case n < 4 && !g.instant:
		target = "key=" + pick(g, allQueues)
	case n < 6 && !g.instant:
		target = pick(g, []string{"key=nowhere", "exchange=amq.gone key=k", "exchange=amq.direct key=q1", "exchange=amq.topic key=q2",
			"exchange=amq.rabbitmq.trace key=k", "key=@reply", "exchange=" + pick(g, deadExchanges)})
	case n < 55:
		target = "exchange=" + pick(g, liveExchanges) + " key=" + pick(g, routingKeys)
	}
	content := "body=" + g.body()
	if g.chance(4) {
		content = pick(g, sizes)
	}
	parts := []string{"publish", target, content, g.sometimes(15, "mandatory"), g.sometimes(25, "delivery-mode=2"), g.sometimes(5, "delivery-mode=1"),
		g.sometimes(20, fmt.Sprintf("priority=%d", g.IntN(12))), g.sometimes(25, "headers="+pick(g, headerTables)),
		g.sometimes(15, pick(g, properties))}
	switch {
	case g.instant:
		parts = append(parts, "expiration=0")
	case g.chance(3):
		parts = append(parts, pick(g, badProperties))
	default:
		parts = append(parts, g.sometimes(5, "expiration=3600000"))
	}
	line := words(parts...)
	place := g.place()
	if place == txPlace && !g.settledRoute(line) {
		place = "A1"
	}
	return at(place, line)
}

// settledRoute reports whether a message reaches the same queues now and at a later commit. In
// RabbitMQ this does not hold for the default exchange.
func (g *generator) settledRoute(publish string) bool {
	if strings.Contains(publish, "exchange=x") {
		return true
	}
	key := regexp.MustCompile(`key=(q\d) `).FindStringSubmatch(publish + " ")
	return key != nil && !strings.Contains(publish, "CC=") && slices.ContainsFunc(g.r.queues, func(q *probed) bool { return q.name == key[1]+g.r.suffix })
}

// consume consumes from the home queue of a channel.
func (g *generator) consume() string {
	place := g.place()
	tag := "c1"
	noAck := g.sometimes(30, "no-ack")
	if place == limitPlace {
		noAck = ""
	}
	if noAck != "" && !g.instant {
		tag = pick(g, []string{"n1", "n2", "n3"})
	}
	return at(place, words("basic.consume queue="+g.homeOf(place), "consumer-tag="+place+tag, noAck, g.sometimes(4, "exclusive"),
		g.sometimes(4, "no-local"), g.sometimes(4, "no-wait"),
		g.sometimes(25, "arguments={x-priority="+pick(g, []string{"1", "2", "-1", "l:3", "10", "high"})+"}")))
}

func (g *generator) cancel() string {
	place := g.place()
	return at(place, words("basic.cancel consumer-tag="+place+pick(g, []string{"c1", "c1", "n1", "n2", "n3"}), g.sometimes(5, "no-wait")))
}

func (g *generator) get() string {
	q, place := g.someQueue(), g.place()
	switch {
	case g.chance(2):
		return at(place, "basic.get no-ack")
	case q == g.homeOf(place):
		return at(place, "basic.get no-ack queue="+q)
	}
	return at(place, words("basic.get queue="+q, g.sometimes(30, "no-ack")))
}

// settleSome mostly acknowledges or rejects outstanding deliveries of some channel.
func (g *generator) settleSome() string {
	verb := pick(g, []string{"basic.ack", "basic.ack", "basic.reject", "basic.nack"})
	words := g.sometimes(50, "requeue")
	if verb == "basic.ack" {
		words = ""
	}
	multiple := verb != "basic.reject" && g.chance(25)
	if multiple {
		words += " multiple"
	}
	var busy []string
	for _, place := range slices.Compact(slices.Clone(places)) {
		if ch := g.channel(place); ch != nil && ch.open && len(ch.tags) > 0 {
			busy = append(busy, place)
		}
	}
	if len(busy) == 0 || g.chance(3) {
		return at(g.place(), fmt.Sprintf("%s delivery-tag=%d%s", verb, g.IntN(4), words))
	}
	place := pick(g, busy)
	ch := g.channel(place)
	n := g.IntN(len(ch.tags))
	tag := ch.tags[n]
	switch {
	case multiple && g.chance(20):
		tag, ch.tags = 0, nil
	case multiple:
		ch.tags = ch.tags[n+1:]
	default:
		ch.tags = slices.Delete(ch.tags, n, n+1)
	}
	return at(place, fmt.Sprintf("%s delivery-tag=%d%s", verb, tag, words))
}

func (g *generator) qos() string {
	place := g.place()
	global := ""
	if place == limitPlace {
		global = g.sometimes(70, "global")
	}
	return at(place, words("basic.qos", fmt.Sprintf("prefetch-count=%d", g.IntN(4)), global))
}

func (g *generator) recover() string {
	place := g.place()
	if ch := g.channel(place); ch != nil {
		ch.tags = nil
	}
	return at(place, pick(g, []string{"basic.recover requeue", "basic.recover-async requeue"}))
}

// closeSomething closes a channel or a connection.
func (g *generator) closeSomething() string {
	if g.chance(15) {
		return pick(g, []string{"A", "B", "C"}) + ": connection.close reply-code=200"
	}
	return g.anywhere("channel.close reply-code=200")
}

// fatal causes an error that closes a connection.
func (g *generator) fatal() string {
	place := g.place()
	lines := pick(g, [][]string{
		{"channel.flow"}, {"channel.open"}, {"basic.qos prefetch-size=5"}, {"basic.recover"}, {"basic.recover-async"},
		{"basic.consume queue=q1 consumer-tag=t", "basic.consume queue=q1 consumer-tag=t"},
		{"exchange.declare exchange=x1 type=sideways"},
		{"queue.declare-ok"}, {"connection.open virtual-host=/"},
		{"basic.publish routing-key=q1 immediate", `frame type=2 payload="\x00\x3c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"`, "read"},
		{"basic.publish routing-key=q1", `frame type=2 payload="\x00\x3c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00"`, "basic.qos"},
		{"basic.publish routing-key=q1", "basic.qos"},
		{"basic.publish routing-key=q1", "frame type=3 payload=abc", "read"},
		{"frame type=3 payload=abc", "read"},
		{"frame type=7 payload=abc", "read"},
		{"frame type=1 payload=abcd end=65", "read"},
	})
	for _, line := range lines[1:] {
		g.planned = append(g.planned, at(place, line))
	}
	return at(place, lines[0])
}

// request sends a request with a direct reply-to, consumes the request and answers it.
func (g *generator) request() string {
	q := g.liveQueue()
	asker, server := pick(g, []string{"A4", "C2"}), pick(g, []string{"A3", "B1", "B1"})
	lines := []string{
		"basic.consume queue=amq.rabbitmq.reply-to consumer-tag=r no-ack", "publish key=" + q + " reply-to=amq.rabbitmq.reply-to body=" + g.body() +
			g.sometimes(30, "correlation-id=5"),
	}
	if g.instant {
		lines[1] += " expiration=0"
	}
	for _, line := range lines {
		if g.chance(90) {
			g.planned = append(g.planned, at(asker, line))
		}
	}
	for _, line := range []string{"basic.get no-ack queue=" + q, "publish key=@reply body=" + g.body() + g.sometimes(20, "mandatory")} {
		if g.chance(90) {
			g.planned = append(g.planned, at(server, line))
		}
	}
	if g.chance(30) {
		g.planned = append(g.planned, at(asker, "basic.cancel consumer-tag=r"))
	}
	return at(server, "queue.declare queue="+q+" passive")
}

// harmless returns a line that changes nothing.
func (g *generator) harmless() string {
	return g.anywhere(pick(g, []string{"channel.flow active", "access.request", "confirm.select", "tx.commit", "tx.rollback"}))
}

// The channels for transactions, and for prefetch limits of a whole channel.
const (
	txPlace    = "B2"
	limitPlace = "A3"
)

// tx begins and ends transactions.
func (g *generator) tx() string {
	return at(txPlace, pick(g, []string{"tx.select", "tx.commit", "tx.commit", "tx.rollback"}))
}

func (g *generator) confirmSelect() string {
	return g.anywhere("confirm.select", g.sometimes(5, "no-wait"))
}

// operations are the kinds of lines with their weights.
var operations = []operation{
	{300, (*generator).publish},
	{150, (*generator).settleSome},
	{70, (*generator).consume},
	{80, (*generator).get},
	{30, (*generator).cancel},
	{25, (*generator).qos},
	{10, (*generator).recover},
	{30, (*generator).confirmSelect},
	{40, (*generator).tx},
	{60, (*generator).anyDeclareQueue},
	{35, (*generator).anyDeclareExchange},
	{50, (*generator).bindQueue},
	{15, (*generator).unbindQueue},
	{15, (*generator).bindExchange},
	{15, (*generator).deleteQueue},
	{15, (*generator).purgeQueue},
	{7, (*generator).deleteExchange},
	{15, (*generator).closeSomething},
	{5, (*generator).request},
	{5, (*generator).harmless},
	{5, (*generator).fatal},
}
