package mbus

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/loans"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus/localtime"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// deadQueue is the queue for messages that could not be processed.
const deadQueue = "dmq"

// postArgs returns the arguments of post_<q>. post takes the queue name before them.
func postArgs() []expr.Arg {
	return []expr.Arg{
		arg("data", value.Hstore), optional("headers", value.Hstore), optional("properties", value.Hstore),
		optional("delayed_until", value.TimestampType), optional("expires", value.TimestampType), optional("iid", value.Text),
	}
}

func postFunctions() []*expr.Function {
	return []*expr.Function{
		commented(scalar("post", append([]expr.Arg{arg("qname", value.Text)}, postArgs()...), value.Text,
			func(s *Session, env *expr.Env, a arguments) (value.Datum, error) {
				return s.postTo(env, a.text(0), a[1:])
			}),
			"put a message into a queue; returns its iid"),
		commented(scalar("get_iid", []expr.Arg{arg("qname", value.Text)}, value.Text,
			func(s *Session, _ *expr.Env, a arguments) (value.Datum, error) { return s.reserveIID(a.text(0)) }),
			"reserve an iid, to post with it later"),
		commented(scalar("post_dmq", postArgs(), value.Text,
			func(s *Session, env *expr.Env, a arguments) (value.Datum, error) {
				if err := s.makeDead(env.Ctx); err != nil {
					return nil, err
				}
				return s.postTo(env, deadQueue, a)
			}), "put a message into the dead message queue"),
	}
}

// makeDead creates the dead message queue when it is first needed.
func (s *Session) makeDead(ctx context.Context) error {
	if _, ok := s.sqlQueue(deadQueue); ok {
		return nil
	}
	return s.makeQueue(ctx, deadQueue, queueDef{Consumers: 1})
}

// newIID returns a unique iid.
func (s *Session) newIID(name string) (string, error) {
	n, err := s.b.Sequence(component+" "+s.vhost(), 1)
	if err != nil {
		return "", s.failed(err)
	}
	return name + "." + strconv.FormatInt(n, 10), nil
}

// reserveIID implements get_iid.
func (s *Session) reserveIID(queueName string) (value.Datum, error) {
	name := strings.ToLower(queueName)
	if !s.isQueue(name) {
		return nil, raise("No such queue: %s", queueName)
	}
	return s.newIID(name)
}

// postTo posts a message. a holds the arguments of post_<q>.
func (s *Session) postTo(env *expr.Env, queueName string, a arguments) (value.Datum, error) {
	if err := s.mayChange("post"); err != nil {
		return nil, err
	}
	name := s.named(queueName)
	if !s.isQueue(name) && (!s.own.HasExchange(name) || s.hidden(queueKind+name)) {
		if name != deadQueue {
			return nil, raise("Unknown queue:%s", queueName)
		}
		if err := s.makeDead(env.Ctx); err != nil {
			return nil, err
		}
	}
	from, err := s.rights(name, postFunction(name))
	if err != nil {
		return nil, err
	}
	return s.post(from, env, name, a)
}

// named returns the queue that a name refers to. Names of SQL queues are in lower case; other
// queues are found by their exact names.
func (s *Session) named(name string) string {
	if small := strings.ToLower(name); small != name && !s.isQueue(name) {
		return small
	}
	return name
}

// rights returns the session whose rights apply to a function of a queue. By default it is the
// user's own session. If the queue has the roles model, the user needs the function's role, and the
// rights are those of the queue's creator. The role for post_q is mbus_<db>_post_q.
func (s *Session) rights(queueName, function string) (*broker.Session, error) {
	return s.rightsOf(s.user, queueName, function)
}

// rightsOf is rights for a given user, such as the owner of a view.
func (s *Session) rightsOf(user, queueName, function string) (*broker.Session, error) {
	q, guarded := s.guard(queueName)
	if !guarded {
		return s.ownerSession(user)
	}
	u, err := s.b.User(user)
	switch {
	case err == nil && slices.Contains(u.Tags, catalog.TagAdministrator):
		return s.ownerSession(user)
	case err != nil || !slices.Contains(u.Tags, s.roleOf(function)):
		return nil, raise("Access denied")
	}
	return s.ownerSession(q.Owner)
}

// guard returns the queue whose roles control access to an engine queue. Consumer queues have no
// roles of their own, so only administrators can use them by name.
func (s *Session) guard(queueName string) (q queueDef, guarded bool) {
	q, made := s.sqlQueue(queueName)
	if base, _, part := strings.Cut(queueName, "."); !made && part && !isTemporary(queueName) {
		q, made = s.sqlQueue(base)
	}
	return q, made && q.Roles
}

// post creates a message that is sent at the commit, with the rights of from.
func (s *Session) post(from *broker.Session, env *expr.Env, queueName string, a arguments) (value.Datum, error) {
	p := posting{
		queue: queueName, database: s.database, user: s.user, now: localtime.At(env.Now, env.Settings.Zone), settings: &env.Settings,
		noData: !a.has(0), noProperties: !a.has(2),
	}
	p.data, _ = a[0].(hstore.Map)
	p.headers, _ = a[1].(hstore.Map)
	p.properties, _ = a[2].(hstore.Map)
	p.delayed, p.hasDelayed = a[3].(temporal.Timestamp)
	p.expires, p.hasExpires = a[4].(temporal.Timestamp)
	var err error
	if p.iid, p.claim, err = s.chooseIID(env.Ctx, queueName, a); err != nil {
		return nil, err
	}
	if from.HasExchange(queueName) {
		p.exchange = queueName
	} else {
		p.key = queueName
	}
	if err = s.send(from, &p, nil); err != nil {
		p.claim.Release() // a failed statement holds no claims
	}
	return p.iid, err
}

// chooseIID returns the iid that the client supplied, or a new one.
func (s *Session) chooseIID(ctx context.Context, queueName string, a arguments) (iid string, claim *loans.Claim, err error) {
	if len(a) < 6 || !a.has(5) {
		if isTemporary(queueName) {
			queueName = s.database
		}
		iid, err = s.newIID(queueName)
		return iid, nil, err
	}
	iid = a.text(5)
	if queueName != deadQueue && !strings.HasPrefix(iid, queueName+".") && !strings.HasPrefix(iid, deadQueue+".") {
		return "", nil, raise("Wrong iid=%s for queue %s", iid, queueName)
	}
	if len(iid) > message.MaxShortStr {
		return "", nil, pgerror.New(pgerror.InvalidParameterValue, "an iid has at most %d bytes", message.MaxShortStr)
	}
	claim, err = s.claimIID(ctx, queueName, iid)
	return iid, claim, err
}

// claimIID reserves an iid in a queue until the transaction ends, and fails if the iid is in use.
// As with a unique index, it waits for uncommitted transactions that have posted or taken a message
// with this iid. The claim is nil if an earlier post of the same transaction holds it.
func (s *Session) claimIID(ctx context.Context, queueName, iid string) (*loans.Claim, error) {
	claim, fresh, err := s.tx.Claim(ctx, s.own, queueName+" "+iid)
	if err != nil {
		return nil, s.waitFailed(ctx, err)
	}
	if !fresh {
		claim = nil
	}
	taken, own := false, s.loansOf(iid)
	for _, c := range s.subscribers(queueName) {
		name := consumerQueue(queueName, c.name)
		if !fresh {
			taken = s.ownPost(name, iid) != nil
		}
		if !taken {
			taken, err = loans.InUse(ctx, s.own, name, iid, own, &s.tx)
		}
		if taken || err != nil {
			break
		}
	}
	switch {
	case err != nil:
		err = s.waitFailed(ctx, err)
	case taken:
		err = pgerror.New("23505", "Message %s already exists", iid)
	default:
		return claim, nil
	}
	claim.Release()
	return nil, err
}

// waitFailed converts the error that ended a wait.
func (s *Session) waitFailed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.failed(err)
}

// holding returns what the transaction holds while it waits, for deadlock detection.
func (s *Session) holding() loans.Holdings {
	h := loans.Holdings{Loans: s.loans()}
	for _, p := range s.work.posts.All() {
		if p.claim != nil {
			h.Claims = append(h.Claims, p.claim)
		}
	}
	return h
}

// send routes a message and adds it to the transaction. copyOf is the message that it replaces, if
// any.
func (s *Session) send(from *broker.Session, p *posting, copyOf *shard.Loan) error {
	m, err := s.encoder.encode(p)
	if err != nil {
		return err
	}
	_, _, props, body := m.env.Split()
	if copyOf == nil && s.largest > 0 && int64(len(body)) > s.largest {
		return pgerror.New(pgerror.ProgramLimitExceeded, "a message of %d bytes is larger than %d", len(body), s.largest).
			WithHint("The broker's setting max_message_size is the limit.")
	}
	peek, err := message.PeekProperties(props)
	if err != nil {
		return s.failed(err)
	}
	peek.Body = body
	targets, copies, err := from.RouteApart([]byte(p.exchange), []byte(p.key), &peek)
	if err != nil {
		return s.failed(err)
	}
	switch {
	case !targets.Empty():
	case p.exchange == "":
		return raise("Unknown queue:%s", p.queue)
	case from.HasQueue(p.queue): // the exchange with the queue's name does not belong to the queue
		p.exchange, p.key = "", p.queue
		return s.send(from, p, copyOf)
	}
	if err := s.add(p, p.queue, &m, targets, copyOf); err != nil || p.verbatim {
		return err // a moved message is not posted again
	}
	return s.sendCopies(from, p, copies, []string{p.exchange})
}

// add adds a message to the transaction. named is the queue that the message must reach, if any. It
// returns ErrTooLarge for a transaction that is too large to commit, because posts are held in
// memory until the commit.
func (s *Session) add(p *posting, named string, m *encoded, targets shard.Targets, copyOf *shard.Loan) error {
	post := &pending{iid: p.iid, named: named, claim: p.claim}
	post.publish = shard.Publish{Targets: targets, Env: m.env, Persistent: m.persistent, Priority: m.priority, TTL: m.ttl, CopyOf: copyOf}
	zone := p.settings.Zone
	if p.hasDelayed {
		post.publish.NotBefore = max(localtime.CeilMillis(localtime.Instant(p.delayed, zone)), 0)
	}
	delayed := m.added - hour
	if p.hasDelayed {
		delayed = p.delayed
	}
	if m.own || delayed < s.work.latest {
		at := placeIn(m.added, delayed)
		post.publish.Order = &at
	}
	s.work.latest = max(s.work.latest, delayed)
	if p.hasExpires && p.expires != localtime.Infinity {
		post.publish.Deadline = max(localtime.FloorMillis(localtime.Instant(p.expires, zone)), 1)
	}
	if s.encoder.list.waits {
		for _, e := range s.encoder.list.ids.Elems {
			if id, ok := e.(string); ok {
				post.after = append(post.after, id)
			}
		}
	}
	if s.work.bytes+post.bytes() > s.room {
		return s.failed(&failure.Error{Err: failure.ErrTooLarge, Kind: "transaction"})
	}
	s.work.add(post)
	return nil
}

// ready reports whether the session itself could receive a pending post now.
func (s *Session) ready(p *pending, now int64) bool {
	if p.publish.NotBefore > now || p.publish.Deadline != 0 && p.publish.Deadline <= now {
		return false
	}
	for _, id := range p.after {
		if s.exists(id, p) {
			return false
		}
	}
	return true
}

// exists reports whether a message with this id exists anywhere, as the session sees it. It ignores
// but.
func (s *Session) exists(iid string, but *pending) bool {
	return s.posted(iid, but) || s.own.Alive(iid, s.loansOf(iid)...)
}

// posted reports whether the transaction itself has posted a message with this id. It ignores but.
func (s *Session) posted(iid string, but *pending) bool {
	for p := range s.work.posts.With(iid) {
		if p != but && p.alive() {
			return true
		}
	}
	return false
}
