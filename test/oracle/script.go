package oracle

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// run is a run of a script on a broker. A line of a script is
//
//	[connection][channel][!]: verb name=value …
//
// Connections are letters, by default A, and channels are numbers, by default 1. A connection logs
// in, and a channel is opened, when a line first uses it. With ! the channel is used as it is. A
// verb is an AMQP method with its fields, whose answer is awaited if it has one, or one of these:
//
//	publish     a complete message: exchange, key, mandatory, properties by name, and body or
//	            size; key=@reply answers the last reply-to seen
//	expect=N    N deliveries, returns or cancels, in the order of arrival
//	confirms=N  the answers to N publishes
//	read        the next answer to a verb that has an answer only if it fails
//	eof         the end of the connection
//	heartbeat   the next heartbeat
//	dial        a connection on which nothing is sent
//	start       the protocol header and connection.start
//	login       the complete handshake: user, password, mechanism, vhost, frame-max, channel-max,
//	            heartbeat, no-capabilities
//	bytes=…     arbitrary bytes
//	frame       type and payload
//	answer      eight bytes that are not a frame
//	settle      from here on, after each line that does not send a part: wait for all its effects
//	            and show them, with the counts of queues that have changed; a closed connection is
//	            opened again for the next line that uses it
type run struct {
	addr     string
	suffix   string // of the names of this run
	peers    map[string]*peer
	answers  []string
	settling bool      // after each line
	instant  bool      // some messages live for no time at all
	queues   []*probed // that settle asks, in the order of their declaration
}

var (
	linePrefix  = regexp.MustCompile(`^([A-Z]?)(\d*)(!?): *`)
	scriptNames = regexp.MustCompile(`([=\[,])([qx]\d?)\b`)
	tracedNames = regexp.MustCompile(`\b(publish|deliver)\.([qx]\d?)\b`) // keys of the firehose
	randomNames = regexp.MustCompile(`(amq\.gen-|amq\.ctag-|amq\.rabbitmq\.reply-to\.|\bnode="|\bconnection=")[^"' ]+( -> [^"]+)?`)
)

// play runs a script and returns the answers. It makes the names of queues and exchanges unique by
// id.
func play(addr string, id int, script []string) ([]string, error) {
	r := newRun(addr, id)
	defer r.hangUp()
	for _, line := range script {
		if err := r.play(line); err != nil {
			return nil, err
		}
	}
	r.end()
	return r.take(), nil
}

func newRun(addr string, id int) *run {
	return &run{addr: addr, suffix: fmt.Sprintf("~%d", id), peers: map[string]*peer{}}
}

// play runs one line.
func (r *run) play(line string) error {
	named := scriptNames.ReplaceAllString(line, "${1}${2}"+r.suffix)
	named = tracedNames.ReplaceAllString(named, "${1}.${2}"+r.suffix)
	named = strings.ReplaceAll(named, r.suffix+":", ":") // x:5 is a value
	r.instant = r.instant || strings.Contains(line, "expiration=0") || strings.Contains(line, "x-message-ttl=0")
	if err := r.line(named); err != nil {
		return fmt.Errorf("%s: %w", line, err)
	}
	return nil
}

// take returns the answers so far and forgets them. It replaces what is specific to the broker or
// the run.
func (r *run) take() []string {
	answers := r.answers
	for i, a := range answers {
		answers[i] = randomNames.ReplaceAllString(strings.ReplaceAll(a, r.suffix, ""), "$1*")
	}
	r.answers = nil
	return answers
}

// hangUp closes the connections.
func (r *run) hangUp() {
	for _, p := range r.peers {
		p.nc.Close()
	}
}

// step is a parsed line.
type step struct {
	p       *peer
	ch      *peerChannel
	channel uint16
	verb    field
	fields  []field
}

func (r *run) line(line string) error {
	prefix := linePrefix.FindStringSubmatch(line)
	var label, number, asIs string
	if prefix != nil {
		label, number, asIs = prefix[1], prefix[2], prefix[3]
		line = line[len(prefix[0]):]
	}
	label = cmp.Or(label, "A")
	fs, _, err := fields(line)
	if err != nil || len(fs) == 0 {
		return fmt.Errorf("no line of a script: %v", err)
	}
	s := step{verb: fs[0], fields: fs[1:], channel: 1}
	if number != "" {
		n, err := strconv.ParseUint(number, 10, 16)
		if err != nil {
			return err
		}
		s.channel = uint16(n)
	} else if strings.HasPrefix(s.verb.name, "connection.") {
		s.channel = 0
	}
	if s.p = r.peers[label]; s.p == nil || s.p.over && r.settling {
		if s.p != nil {
			s.p.nc.Close()
		}
		if s.p, err = dial(label, r.addr); err != nil {
			return err
		}
		r.peers[label] = s.p
		if !slices.Contains([]string{"dial", "start", "login"}, s.verb.name) {
			if answers := s.p.login(nil); s.p.over {
				return fmt.Errorf("login: %v", answers)
			}
		}
	}
	s.ch = s.p.channel(s.channel)
	if asIs == "" && s.channel != 0 && !s.ch.open && needsChannel(s.verb.name) && !s.p.over {
		s.p.send(s.channel, &amqpwire.ChannelOpen{})
		if e := s.p.awaitReply(s.channel, false); !strings.HasPrefix(e.text, "channel.open-ok") {
			r.note(s.p, e)
			return nil
		}
	}
	if err := r.do(&s); err != nil || !r.settling || sendsPart(s.verb.name) {
		return err
	}
	r.settle()
	return nil
}

// sendsPart reports whether the verb sends a part, so that more must follow before the broker may
// be asked anything.
func sendsPart(verb string) bool {
	return verb == "basic.publish" || verb == "frame" || verb == "bytes"
}

// needsChannel reports whether a verb requires an open channel.
func needsChannel(verb string) bool {
	return verb == "publish" || strings.Contains(verb, ".") && verb != "channel.open"
}

func (r *run) note(p *peer, e event) {
	where := ""
	if p.label != "A" {
		where = p.label + " "
	}
	if e.channel > 1 {
		where += strconv.Itoa(int(e.channel)) + " "
	}
	r.answers = append(r.answers, where+e.text)
}

func (r *run) do(s *step) error {
	p := s.p
	count := func() int { n, _ := message.Int(s.verb.value); return int(n) }
	switch s.verb.name {
	case "dial":
	case "settle":
		r.settling = true
	case "start":
		p.write([]byte(amqpwire.ProtocolHeader))
		r.note(p, p.awaitReply(0, false))
	case "login":
		for _, e := range p.login(s.fields) {
			r.note(p, e)
		}
	case "publish":
		return p.publish(s)
	case "expect":
		for range count() {
			r.note(p, p.awaitAsync(s.channel))
		}
	case "confirms":
		r.note(p, p.awaitConfirms(s.channel, count()))
	case "read":
		r.note(p, p.awaitReply(s.channel, true))
	case "eof":
		r.note(p, p.awaitEnd())
	case "heartbeat":
		for {
			if e := p.next(); e.kind == beat || e.kind == finished {
				r.note(p, e)
				return nil
			}
		}
	case "bytes":
		p.write([]byte(fmt.Sprint(s.verb.value)))
	case "frame":
		return p.frame(s)
	case "answer":
		for len(p.buf) < 8 {
			if err := p.more(); err != nil {
				break
			}
		}
		n := min(8, len(p.buf))
		r.note(p, event{text: "answer " + strconv.Quote(string(p.buf[:n]))})
		p.buf = p.buf[n:]
	default:
		return r.method(s)
	}
	return nil
}

// end closes the connections that are still open and records what no line asked for.
func (r *run) end() {
	for _, p := range r.sorted() {
		if p.loggedIn && !p.over {
			p.send(0, &amqpwire.ConnectionClose{ReplyCode: amqpcode.Success})
			for !p.over {
				e := p.next()
				if e.kind == finished || e.kind == reply && !strings.HasPrefix(e.text, "connection.close-ok") {
					r.note(p, event{channel: e.channel, text: "at the end: " + e.text})
				}
				if e.kind == finished {
					break
				}
			}
		}
		for id := range uint16(32) {
			if ch := p.channels[id]; ch != nil {
				for _, text := range ch.async {
					r.note(p, event{channel: id, text: "not asked for: " + text})
				}
			}
		}
	}
}

// methods are the methods that clients send, by name.
var methods = func() map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for _, m := range []amqpwire.Method{
		&amqpwire.ConnectionStartOk{}, &amqpwire.ConnectionSecureOk{}, &amqpwire.ConnectionTuneOk{}, &amqpwire.ConnectionOpen{},
		&amqpwire.ConnectionClose{}, &amqpwire.ConnectionCloseOk{}, &amqpwire.ConnectionUpdateSecret{}, &amqpwire.ConnectionStart{},
		&amqpwire.ConnectionBlocked{},
		&amqpwire.ChannelOpen{}, &amqpwire.ChannelOpenOk{}, &amqpwire.ChannelFlow{}, &amqpwire.ChannelFlowOk{}, &amqpwire.ChannelClose{},
		&amqpwire.ChannelCloseOk{}, &amqpwire.AccessRequest{},
		&amqpwire.ExchangeDeclare{}, &amqpwire.ExchangeDelete{}, &amqpwire.ExchangeBind{}, &amqpwire.ExchangeUnbind{},
		&amqpwire.QueueDeclare{}, &amqpwire.QueueBind{}, &amqpwire.QueueUnbind{}, &amqpwire.QueuePurge{}, &amqpwire.QueueDelete{},
		&amqpwire.QueueDeclareOk{},
		&amqpwire.BasicQos{}, &amqpwire.BasicConsume{}, &amqpwire.BasicCancel{}, &amqpwire.BasicCancelOk{}, &amqpwire.BasicPublish{},
		&amqpwire.BasicGet{}, &amqpwire.BasicAck{}, &amqpwire.BasicReject{}, &amqpwire.BasicNack{}, &amqpwire.BasicRecover{},
		&amqpwire.BasicRecoverAsync{},
		&amqpwire.ConfirmSelect{}, &amqpwire.TxSelect{}, &amqpwire.TxCommit{}, &amqpwire.TxRollback{},
	} {
		all[m.ID().String()] = reflect.TypeOf(m).Elem()
	}
	return all
}()

// method sends a method and records its answer if it has one.
func (r *run) method(s *step) error {
	kind, ok := methods[s.verb.name]
	if !ok {
		return fmt.Errorf("no verb %s", s.verb.name)
	}
	v := reflect.New(kind)
	for _, f := range s.fields {
		if err := set(v.Elem(), f); err != nil {
			return err
		}
	}
	m := v.Interface().(amqpwire.Method)
	r.before(s, m)
	s.p.send(s.channel, m)
	noWait := v.Elem().FieldByName("NoWait")
	if !hasAnswer(m) || noWait.IsValid() && noWait.Bool() {
		return nil
	}
	e := s.p.awaitReply(s.channel, false)
	r.note(s.p, e)
	r.follow(s, m, e.text)
	return nil
}

// before stores what is needed to interpret the answers.
func (r *run) before(s *step, m amqpwire.Method) {
	switch m := m.(type) {
	case *amqpwire.BasicConsume:
		s.ch.noAck[m.ConsumerTag] = m.NoAck
	case *amqpwire.BasicGet:
		s.ch.noAck[""] = m.NoAck
	case *amqpwire.ConfirmSelect:
		s.ch.confirming = s.ch.confirming || m.NoWait
	case *amqpwire.QueueDeclare:
		if m.NoWait && m.Queue != "" {
			r.follow(s, m, "queue.declare-ok queue="+strconv.Quote(m.Queue))
		}
	}
}

// follow stores what an answer says about queues.
func (r *run) follow(s *step, m amqpwire.Method, answer string) {
	d, ok := m.(*amqpwire.QueueDeclare)
	name, there := strings.CutPrefix(answer, "queue.declare-ok queue=")
	if !ok || !there {
		return
	}
	quoted, _ := strconv.QuotedPrefix(name)
	name, _ = strconv.Unquote(quoted)
	switch {
	case strings.HasPrefix(name, "amq.rabbitmq."):
	case d.Exclusive && !d.Passive:
		r.declared(name, s.p)
	default:
		r.declared(name, nil)
	}
}

// hasAnswer reports whether the method has an answer to wait for.
func hasAnswer(m amqpwire.Method) bool {
	switch m.ID() {
	case amqpwire.IDBasicPublish, amqpwire.IDBasicAck, amqpwire.IDBasicNack, amqpwire.IDBasicReject, amqpwire.IDBasicRecoverAsync,
		amqpwire.IDConnectionTuneOk, amqpwire.IDConnectionCloseOk, amqpwire.IDChannelCloseOk, amqpwire.IDChannelFlowOk, amqpwire.IDBasicCancelOk:
		return false
	}
	return true
}

// awaitReply reads until an answer on the channel, or on any channel if anywhere. What closes the
// connection answers everything.
func (p *peer) awaitReply(channel uint16, anywhere bool) event {
	if p.over {
		return event{text: "not sent: the connection is over"}
	}
	for {
		e := p.next()
		if e.kind == finished || e.kind == reply && (anywhere || e.channel == channel || e.channel == 0) {
			return e
		}
	}
}

// awaitAsync returns the next delivery, return or cancel of the channel, or an answer that comes
// instead.
func (p *peer) awaitAsync(channel uint16) event {
	ch := p.channel(channel)
	for len(ch.async) == 0 {
		if e := p.next(); e.kind == finished || e.kind == reply {
			return e
		}
	}
	text := ch.async[0]
	ch.async = ch.async[1:]
	return event{channel: channel, text: text}
}

func (p *peer) awaitConfirms(channel uint16, n int) event {
	ch := p.channel(channel)
	for len(ch.confirms) < n {
		if e := p.next(); e.kind == finished || e.kind == reply {
			return e
		}
	}
	return event{channel: channel, text: ch.takeConfirms()}
}

func (p *peer) awaitEnd() event {
	for {
		if e := p.next(); e.kind == finished {
			return e
		}
	}
}

// login does the handshake with the options fs, and returns the answers except those that are
// always the same.
func (p *peer) login(fs []field) (answers []event) {
	o := struct {
		User, Password, Mechanism, Vhost string
		Response                         string
		FrameMax                         uint32
		ChannelMax, Heartbeat            uint16
		NoCapabilities                   bool
	}{User: "guest", Password: "guest", Mechanism: "PLAIN", Vhost: "/", FrameMax: clientFrameMax, ChannelMax: clientChannelMax}
	for _, f := range fs {
		if err := set(reflect.ValueOf(&o).Elem(), f); err != nil {
			return []event{{text: err.Error()}}
		}
	}
	if o.Response == "" {
		o.Response = "\x00" + o.User + "\x00" + o.Password
		if o.Mechanism == "AMQPLAIN" {
			o.Response = string(message.AppendTable(nil, message.Table{{Name: "LOGIN", Value: o.User}, {Name: "PASSWORD", Value: o.Password}})[4:])
		}
	}
	var capabilities message.Table
	if !o.NoCapabilities {
		for _, name := range []string{"authentication_failure_close", "consumer_cancel_notify", "connection.blocked", "basic.nack", "publisher_confirms"} {
			capabilities = append(capabilities, message.Field{Name: name, Value: true})
		}
	}
	p.write([]byte(amqpwire.ProtocolHeader))
	if e := p.awaitReply(0, false); !strings.HasPrefix(e.text, "connection.start ") {
		return []event{e}
	}
	p.send(0, &amqpwire.ConnectionStartOk{
		ClientProperties: message.Table{{Name: "capabilities", Value: capabilities}},
		Mechanism:        o.Mechanism, Response: []byte(o.Response), Locale: "en_US",
	})
	tune := p.awaitReply(0, false)
	if !strings.HasPrefix(tune.text, "connection.tune ") {
		return []event{tune}
	}
	p.send(0, &amqpwire.ConnectionTuneOk{ChannelMax: o.ChannelMax, FrameMax: o.FrameMax, Heartbeat: o.Heartbeat})
	p.send(0, &amqpwire.ConnectionOpen{VirtualHost: o.Vhost})
	if o.FrameMax != 0 {
		p.frameMax = o.FrameMax
	}
	opened := p.awaitReply(0, false)
	p.loggedIn = opened.text == "connection.open-ok"
	return []event{tune, opened}
}

// publish sends a complete message.
func (p *peer) publish(s *step) error {
	m := struct {
		Exchange, Key, Body string
		Size                int
		Mandatory           bool
	}{Size: -1}
	var props message.Properties
	v := reflect.ValueOf(&props).Elem()
	for _, f := range s.fields {
		if set(reflect.ValueOf(&m).Elem(), f) == nil {
			continue
		}
		if err := set(v, f); err != nil {
			return err
		}
		for i := 1; i < v.NumField(); i++ {
			if wireName(v.Type().Field(i).Name) == f.name {
				props.Flags |= propertyFlag(i)
			}
		}
	}
	if m.Key == "@reply" {
		m.Key = p.replyTo
	}
	body := []byte(m.Body)
	if m.Size >= 0 {
		body = make([]byte, m.Size)
		for i := range body {
			body[i] = byte(i % 251)
		}
	}
	if s.ch.confirming {
		s.ch.published++
	}
	p.write(amqpwire.AppendPublish(nil, s.channel, m.Exchange, m.Key, m.Mandatory, props.Append(nil), body, p.frameMax))
	return nil
}

// frame sends a frame with an arbitrary payload.
func (p *peer) frame(s *step) error {
	f := struct {
		Type    uint8
		Payload []byte
		Size    uint32
		End     uint8
	}{End: amqpwire.FrameEnd}
	for _, word := range s.fields {
		if err := set(reflect.ValueOf(&f).Elem(), word); err != nil {
			return err
		}
	}
	if f.Size > 0 {
		f.Payload = make([]byte, f.Size)
	}
	n := len(f.Payload)
	b := []byte{f.Type, byte(s.channel >> 8), byte(s.channel), byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
	p.write(append(append(b, f.Payload...), f.End))
	return nil
}
