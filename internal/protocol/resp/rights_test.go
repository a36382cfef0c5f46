package resp

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/broker/lists"
	"fiveways.dev/fiveways/internal/broker/streams"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/stream"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/semaphores"
)

// right is a row of the permission matrix: the arguments of a command, and the users that may run
// it.
type right struct {
	// args are the arguments after the name. Q is a queue that exists. Its content depends on kind:
	// a list with an element (L), a stream with an entry and the group g (S), or a queue with the
	// job m (J). With kind T it is a semaphore with the running task t.
	kind, args string
	// there holds the letters of the users that may run the command if the queue exists: n has no
	// permissions, c only configure, w only write, r only read; x has configure and write, y write
	// and read, z all three. missing is the same for a queue that does not exist; "=" means the
	// same as there.
	there, missing string
}

const (
	anybody  = "ncwrxyz"
	readers  = "ryz"
	writers  = "wxyz"
	both     = "yz" // write and read
	makers   = "xz" // configure and write: creates a queue
	everyone = "z"
	settlers = "cxz" // configure: creates, changes or deletes a semaphore
)

// rights is the matrix. Each command of the table has at least one row.
var rights = map[string][]right{
	"ping": {{"L", "", anybody, "="}}, "echo": {{"L", "Q", anybody, "="}}, "quit": {{"L", "", anybody, "="}},
	"auth": {{"L", "z secret", anybody, "="}}, "hello": {{"L", "2", anybody, "="}}, "reset": {{"L", "", anybody, "="}},
	"select": {{"L", "0", anybody, "="}}, "info": {{"L", "", anybody, "="}}, "time": {{"L", "", anybody, "="}},
	"command": {{"L", "", anybody, "="}}, "command|count": {{"L", "", anybody, "="}}, "command|info": {{"L", "get", anybody, "="}},
	"command|docs": {{"L", "get", anybody, "="}}, "command|list": {{"L", "", anybody, "="}}, "command|getkeys": {{"L", "DEL Q", anybody, "="}},
	"config|get": {{"L", "save", anybody, "="}}, "config|set": {{"L", "save x", anybody, "="}}, "config|resetstat": {{"L", "", anybody, "="}},
	"config|rewrite": {{"L", "", anybody, "="}}, "wait": {{"L", "0 0", anybody, "="}},
	"client|id": {{"L", "", anybody, "="}}, "client|getname": {{"L", "", anybody, "="}}, "client|setname": {{"L", "x", anybody, "="}},
	"client|setinfo": {{"L", "lib-name x", anybody, "="}}, "client|info": {{"L", "", anybody, "="}}, "client|list": {{"L", "", anybody, "="}},
	"client|kill": {{"L", "ID 999999", anybody, "="}}, "client|unblock": {{"L", "999999", anybody, "="}}, "client|reply": {{"L", "ON", anybody, "="}},
	"client|no-evict": {{"L", "ON", anybody, "="}}, "client|no-touch": {{"L", "ON", anybody, "="}}, "client|getredir": {{"L", "", anybody, "="}},
	"client|help": {{"L", "", anybody, "="}}, "command|help": {{"L", "", anybody, "="}}, "config|help": {{"L", "", anybody, "="}},
	"pubsub|help": {{"L", "", anybody, "="}}, "role": {{"L", "", anybody, "="}},
	"multi": {{"L", "", anybody, "="}}, "exec": {{"L", "", anybody, "="}}, "discard": {{"L", "", anybody, "="}}, "unwatch": {{"L", "", anybody, "="}},
	"watch": {{"L", "Q", readers, "="}},

	"subscribe": {{"L", "Q", readers, "="}}, "unsubscribe": {{"L", "Q", anybody, "="}}, "psubscribe": {{"L", "*", anybody, "="}},
	"punsubscribe": {{"L", "*", anybody, "="}}, "publish": {{"L", "Q x", writers, "="}}, "pubsub|channels": {{"L", "", anybody, "="}},
	"pubsub|numsub": {{"L", "Q", anybody, "="}}, "pubsub|numpat": {{"L", "", anybody, "="}},
	"ssubscribe": {{"L", "Q", readers, "="}}, "sunsubscribe": {{"L", "Q", anybody, "="}}, "spublish": {{"L", "Q x", writers, "="}},
	"pubsub|shardchannels": {{"L", "", anybody, "="}}, "pubsub|shardnumsub": {{"L", "Q", anybody, "="}},

	"del": {{"L", "Q", readers, "="}, {"S", "Q", readers, "="}}, "unlink": {{"L", "Q", readers, "="}}, "exists": {{"L", "Q", readers, "="}},
	"type": {{"S", "Q", readers, "="}}, "keys": {{"L", "*", anybody, "="}}, "scan": {{"L", "0", anybody, "="}}, "randomkey": {{"L", "", anybody, "="}},
	"dbsize": {{"L", "", anybody, "="}},

	"lpush": {{"L", "Q x", writers, makers}}, "rpush": {{"L", "Q x", writers, makers}}, "lpushx": {{"L", "Q x", writers, "="}},
	"rpushx": {{"L", "Q x", writers, "="}}, "lpop": {{"L", "Q", readers, "="}}, "rpop": {{"L", "Q", readers, "="}, {"S", "Q", readers, "="}},
	"blpop": {{"L", "Q 0.001", readers, everyone}}, "brpop": {{"L", "Q 0.001", readers, everyone}},
	"lmpop": {{"L", "1 Q LEFT", readers, "="}}, "blmpop": {{"L", "0.001 1 Q LEFT", readers, everyone}}, "llen": {{"L", "Q", readers, "="}},
	"lrange": {{"L", "Q 0 -1", readers, "="}}, "lindex": {{"L", "Q 0", readers, "="}}, "lpos": {{"L", "Q x", readers, "="}}, "lrem": {{"L", "Q 0 x", readers, "="}},
	"ltrim": {{"L", "Q 0 0", readers, "="}}, "lmove": {{"L", "Q Q LEFT RIGHT", both, "="}, {"L", "other Q LEFT RIGHT", both, "z"}, {"L", "Q other LEFT RIGHT", both, "="}},
	"blmove":     {{"L", "Q other LEFT RIGHT 0.001", both, everyone}},
	"rpoplpush":  {{"L", "Q other", both, "="}},
	"brpoplpush": {{"L", "Q other 0.001", both, everyone}},

	"xadd": {{"S", "Q * a b", writers, makers}, {"S", "Q NOMKSTREAM * a b", writers, "="}, {"S", "Q MAXLEN 1 * a b", both, everyone}},
	"xlen": {{"S", "Q", readers, "="}}, "xrange": {{"S", "Q - +", readers, "="}}, "xrevrange": {{"S", "Q + -", readers, "="}},
	"xread":           {{"S", "STREAMS Q 0", readers, "="}, {"S", "BLOCK 1 STREAMS Q 0", readers, everyone}},
	"xreadgroup":      {{"S", "GROUP g me STREAMS Q >", readers, "="}, {"S", "GROUP g me BLOCK 1 STREAMS Q >", readers, "="}},
	"xack":            {{"S", "Q g 1-1", readers, "="}},
	"xpending":        {{"S", "Q g", readers, "="}},
	"xclaim":          {{"S", "Q g me 0 1-1", readers, "="}},
	"xautoclaim":      {{"S", "Q g me 0 0", readers, "="}},
	"xdel":            {{"S", "Q 1-1", readers, "="}},
	"xtrim":           {{"S", "Q MAXLEN 0", readers, "="}},
	"xsetid":          {{"S", "Q 9-9", writers, "="}},
	"xgroup|create":   {{"S", "Q h 0", readers, "="}, {"S", "Q h 0 MKSTREAM", readers, everyone}},
	"xgroup|setid":    {{"S", "Q g 0", readers, "="}},
	"xgroup|destroy":  {{"S", "Q g", readers, "="}},
	"xgroup|help":     {{"S", "", anybody, "="}},
	"xinfo|stream":    {{"S", "Q", readers, "="}, {"S", "Q FULL", readers, "="}},
	"xinfo|groups":    {{"S", "Q", readers, "="}},
	"xinfo|consumers": {{"S", "Q g", readers, "="}},
	"xinfo|help":      {{"S", "", anybody, "="}},

	"xgroup|createconsumer": {{"S", "Q g me", readers, "="}}, "xgroup|delconsumer": {{"S", "Q g me", readers, "="}},

	"job.enqueue": {{"J", "Q x", writers, makers}, {"J", "Q x ID m UPDATE", writers, makers}}, "job.menqueue": {{"J", "Q 1 x 0", writers, makers}},
	"job.take": {{"J", "Q", readers, "="}, {"J", "Q BLOCK 1", readers, everyone}}, "job.done": {{"J", "Q m 1-1", readers, "="}},
	"job.retry": {{"J", "Q m 1-1", readers, "="}}, "job.fail": {{"J", "Q m 1-1", readers, "="}}, "job.extend": {{"J", "Q m 1-1 1", readers, "="}},
	"job.status": {{"J", "Q m", readers, "="}, {"J", "Q m DETAIL", readers, "="}}, "job.cancel": {{"J", "Q m FORCE", readers, "="}},
	"job.remember": {{"J", "Q n 1", writers, makers}}, "queue.status": {{"J", "Q", readers, "="}}, "queue.content": {{"J", "Q", readers, "="}},
	"queue.names": {{"J", "", anybody, "="}}, "queue.clear": {{"J", "Q", readers, "="}},

	"sem.create": {{"T", "Q", settlers, "="}}, "sem.set": {{"T", "Q ACTIVE 1", settlers, "="}}, "sem.del": {{"T", "Q", settlers, "="}},
	"sem.info": {{"T", "Q", readers, "="}}, "sem.list": {{"T", "", anybody, "="}}, "sem.enqueue": {{"T", "Q t 1", writers, "="}},
	"sem.acquire": {{"T", "Q t 1 TIMEOUT 1", writers, "="}}, "sem.release": {{"T", "Q t", writers, "="}}, "sem.renew": {{"T", "Q t", writers, "="}},
	"sem.status": {{"T", "Q t", readers, "="}}, "sem.tasks": {{"T", "Q", readers, "="}}, "sem.watch": {{"T", "Q", readers, "="}, {"T", "*", anybody, "="}},
	"sem.unwatch": {{"T", "Q", anybody, "="}},
}

// TestRights checks that every command works for users with the required permissions, and returns
// the same error to all others, whether the queue exists or not.
func TestRights(t *testing.T) {
	n := startNode(t, Options{})
	for _, who := range anybody {
		n.cheapUser(string(who))
		n.permit(string(who), string(who), ".*")
	}
	for _, d := range allCommands() {
		switch {
		case strings.HasPrefix(d.Name, "test."):
		case len(d.Subs) > 0:
			for i := range d.Subs {
				n.checkRights(d.Subs[i].Name)
			}
		default:
			n.checkRights(d.Name)
		}
	}
	n.checkRights("command")
	for name := range rights {
		if byFullName(name) == nil {
			t.Errorf("there is no command %s", name)
		}
	}
}

func (n *node) checkRights(name string) {
	rows := rights[name]
	if len(rows) == 0 {
		n.T.Errorf("%s has no row in the matrix of rights", name)
	}
	for _, row := range rows {
		for _, who := range anybody {
			var refused []string
			for _, there := range []bool{true, false} {
				want := row.there
				if !there && row.missing != "=" {
					want = row.missing
				}
				got := n.tryRight(name, string(who), row, there)
				answered := !strings.Contains(got, "-NOPERM")
				if answered != strings.ContainsRune(want, who) {
					n.T.Errorf("%s %s by %c, the queue is there: %v: %s", name, row.args, who, there, got)
				}
				if !answered && want == row.there {
					refused = append(refused, got)
				}
			}
			if len(slices.Compact(refused)) > 1 {
				n.T.Errorf("%s %s by %c tells whether the queue is there: %q", name, row.args, who, refused)
			}
		}
	}
}

// TestRightsInMulti checks that a command is rejected when it is queued, as in Redis, if its user
// has no permission for it, and only then. It is queued if that depends on its options.
func TestRightsInMulti(t *testing.T) {
	n := startNode(t, Options{})
	for _, who := range anybody {
		n.cheapUser(string(who))
		n.permit(string(who), string(who), ".*")
		c := n.Dial()
		c.Wants("AUTH "+string(who)+" secret", "+OK")
		for name, rows := range rights {
			d := byFullName(name)
			if d.Prepare == nil || d.Keys.Step == 0 || d.Group == command.SemaphoreGroup {
				continue
			}
			want := rows[0].there
			c.Wants("MULTI", "+OK")
			got := c.Do(append(strings.Split(name, "|"), strings.Fields(rows[0].args)...)...)
			if (got == "+QUEUED") != strings.ContainsRune(want, who) {
				t.Errorf("%s by %c: %s", name, who, got)
			}
			c.Wants("DISCARD", "+OK")
		}
	}
}

// TestRefusedAsAWhole checks that a command or transaction changes nothing if one of its queues is
// forbidden.
func TestRefusedAsAWhole(t *testing.T) {
	n := startNode(t, Options{})
	n.cheapUser("me")
	n.permit("me", "z", "^mine")
	n.fill("mine", "L")
	n.fill("other", "L")
	n.fill("minejobs", "J")
	c := n.Dial()
	c.Wants("AUTH me secret", "+OK")
	for _, command := range []string{"DEL mine other", "UNLINK mine other", "BLPOP mine other 0", "QUEUE.CLEAR minejobs other", "LMOVE mine other LEFT LEFT"} {
		c.Wants(command, "-NOPERM this user has no permissions to access one of the keys used as arguments")
	}
	c.Wants("MULTI", "+OK")
	c.Wants("LPUSH mine y", "+QUEUED")
	c.Wants("LPUSH other y", "-NOPERM this user has no permissions to access one of the keys used as arguments")
	c.Wants("EXEC", "-EXECABORT Transaction discarded because of previous errors.")
	c.Wants("LRANGE mine 0 -1", `["x"]`)
	c.Wants("JOB.STATUS minejobs m", `"queued"`)
}

// tryRight runs a command as a user with some of the permissions.
func (n *node) tryRight(name, who string, row right, there bool) string {
	c := n.Dial()
	defer c.Conn.Close()
	c.Wants("AUTH "+who+" secret", "+OK")
	if there {
		n.fill("q", row.kind)
	}
	n.fill("other", "L")
	if name == "exec" || name == "discard" {
		c.Wants("MULTI", "+OK")
	}
	words := strings.Split(name, "|")
	for _, w := range strings.Fields(row.args) {
		if w == "Q" {
			w = "q"
		}
		words = append(words, w)
	}
	got := c.Do(words...)
	n.remove("q")
	n.remove("other")
	return got
}

// permit gives a user the permissions of a letter of the matrix, on queues and exchanges whose
// names match pattern.
func (n *node) permit(user, letter, pattern string) {
	n.T.Helper()
	p := catalog.Permission{User: user, VHost: "/"}
	if strings.Contains("cxz", letter) {
		p.Configure = pattern
	}
	if strings.Contains("wxyz", letter) {
		p.Write = pattern
	}
	if strings.Contains("ryz", letter) {
		p.Read = pattern
	}
	if _, err := n.Broker.SetPermission(p); err != nil {
		n.T.Fatal(err)
	}
}

// cheapUser creates a user with the password "secret" and a hash that takes no time to compute.
func (n *node) cheapUser(name string) {
	n.T.Helper()
	salt := "salt"
	sum := sha256.Sum256([]byte(salt + "secret"))
	if _, err := n.Broker.PutUser(catalog.UserSpec{Name: name, Hash: base64.StdEncoding.EncodeToString(append([]byte(salt), sum[:]...))}); err != nil {
		n.T.Fatal(err)
	}
}

// fill creates a queue with the content of a kind of the matrix.
func (n *node) fill(queue, kind string) {
	n.T.Helper()
	s, err := n.Broker.Operate("/")
	if err != nil {
		n.T.Fatal(err)
	}
	defer s.Close()
	var all []broker.Command
	switch on := (broker.OnQueue{Queue: queue}); kind {
	case "T":
		n.line(queue)
		return
	case "L":
		all = append(all, &lists.Push{OnQueue: on, Bodies: [][]byte{[]byte("x")}, Create: true})
	case "S":
		add := &streams.Add{OnStream: streams.OnStream{OnQueue: on}, Create: true, How: streams.GivenID, ID: stream.ID{Ms: 1, Seq: 1}}
		add.Properties = (&message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: message.Persistent}).Append(nil)
		group := &streams.GroupSet{Read: stream.Unknown}
		group.Queue, group.Group = queue, "g"
		all = append(all, add, group)
	case "J":
		all = append(all, &jobs.Enqueue{OnQueue: on, ID: []byte("m"), Body: []byte("x")})
	}
	if err := s.DoAll(all...); err != nil {
		n.T.Fatal(err)
	}
}

// line creates a semaphore with a running task t.
func (n *node) line(key string) {
	n.T.Helper()
	s, err := n.Broker.Operate("/")
	if err != nil {
		n.T.Fatal(err)
	}
	defer s.Close()
	of := semaphores.Of{Key: key}
	if err := n.Semaphores.Do(s, &semaphores.Create{Of: of}, &semaphores.Enqueue{Of: of, Entries: []semaphores.Entry{{Task: "t"}}}); err != nil {
		n.T.Fatal(err)
	}
}

// remove deletes a queue and a semaphore of the same name.
func (n *node) remove(queue string) {
	n.T.Helper()
	s, err := n.Broker.Operate("/")
	if err != nil {
		n.T.Fatal(err)
	}
	defer s.Close()
	if _, err := s.DeleteQueue(queue, false, false); err != nil {
		n.T.Fatal(err)
	}
	if err := n.Semaphores.Do(s, &semaphores.Delete{Of: semaphores.Of{Key: queue}}); err != nil {
		n.T.Fatal(err)
	}
}

// TestSecrets checks that commands that list names or counts include only what the user may read.
func TestSecrets(t *testing.T) {
	n := startNode(t, Options{})
	for _, who := range []string{"narrow", "wide"} {
		n.cheapUser(who)
	}
	n.permit("narrow", "z", "^mine")
	n.permit("wide", "z", ".*")
	s, err := n.Broker.Operate("/")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	wide, narrow, listener := n.Dial(), n.Dial(), n.Dial()
	wide.Wants("AUTH wide secret", "+OK")
	narrow.Wants("AUTH narrow secret", "+OK")
	for _, command := range []string{
		"LPUSH secret x", "LPUSH mine x", "XADD secrets 1-1 a b", "JOB.ENQUEUE secretjobs x ID m", "JOB.ENQUEUE secretjobs x ID other", "JOB.TAKE secretjobs",
	} {
		wide.Do(strings.Fields(command)...)
	}
	if _, err := s.DeclareQueue(catalog.QueueSpec{Name: "mine.exclusive", Exclusive: true, Policy: catalog.DefaultQueuePolicy()}); err != nil {
		t.Fatal(err)
	}
	if err := s.Do(&lists.Push{OnQueue: broker.OnQueue{Queue: "mine.exclusive"}, Bodies: [][]byte{nil}}); err != nil {
		t.Fatal(err)
	}
	listener.Wants("AUTH wide secret", "+OK")
	listener.Wants("SUBSCRIBE secretchannel", `["subscribe" "secretchannel" 1]`)
	listener.Wants("SUBSCRIBE minechannel", `["subscribe" "minechannel" 2]`)
	listener.Wants("PSUBSCRIBE secret*", `["psubscribe" "secret*" 3]`)
	for command, want := range map[string]string{
		"KEYS *": `["mine"]`, "SCAN 0 COUNT 100": `["0" ["mine"]]`, "RANDOMKEY": `"mine"`, "DBSIZE": "1",
		"QUEUE.NAMES": `["mine"]`, "QUEUE.NAMES sec*": "[]",
		"INFO keyspace":   `"# Keyspace\r\ndb0:keys=1,expires=0,avg_ttl=0\r\n"`,
		"PUBSUB CHANNELS": `["minechannel"]`, "PUBSUB NUMSUB secretchannel minechannel": `["secretchannel" 0 "minechannel" 1]`,
	} {
		narrow.Wants(command, want)
	}
	if got := narrow.Do("CLIENT", "LIST"); strings.Count(got, `\n`) != 1 {
		t.Error(got)
	}
	for _, command := range []string{"CLIENT KILL USER wide", "CLIENT KILL USER wide SKIPME no", "CLIENT KILL TYPE pubsub SKIPME yes"} {
		narrow.Wants(command, "0")
	}
	wide.Wants("PUBSUB CHANNELS", `["minechannel" "secretchannel"]`)
	if got := wide.Do("QUEUE.NAMES"); got != `["mine" "secret" "secretjobs" "secrets"]` {
		t.Error(got)
	}
}

// TestReaderMakesNoStream checks that a user with read permission only cannot turn an empty list
// into a stream.
func TestReaderMakesNoStream(t *testing.T) {
	n := startNode(t, Options{})
	n.cheapUser("me")
	n.permit("me", "y", ".*")
	n.fill("q", "L")
	c := n.Dial()
	c.Wants("AUTH me secret", "+OK")
	c.Wants("RPOP q", `"x"`)
	c.Wants("XGROUP CREATE q g $ MKSTREAM", "-"+string(command.ErrNoPermKey))
	c.Wants("LPUSH q x", "1")
	c.Wants("XGROUP CREATE q g $ MKSTREAM", "-"+string(command.ErrWrongType))
}

// TestOtherVHosts checks that a user cannot reach a virtual host without a permission in it.
func TestOtherVHosts(t *testing.T) {
	n := startNode(t, Options{})
	if _, err := n.Broker.PutVHost(catalog.VHostSpec{Name: "shop"}); err != nil {
		t.Fatal(err)
	}
	n.cheapUser("me")
	n.permit("me", "z", ".*")
	n.cheapUser("stranger")
	n.cheapUser("shopkeeper")
	if _, err := n.Broker.SetPermission(catalog.Permission{User: "shopkeeper", VHost: "shop", Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
		t.Fatal(err)
	}
	c := n.Dial()
	c.Wants("AUTH me secret", "+OK")
	c.Wants("LPUSH q x", "1")
	c.Wants("SELECT shop", "-NOPERM this user has no permissions in the virtual host 'shop'")
	c.Wants("MULTI", "+OK")
	c.Wants("SELECT shop", "+QUEUED")
	c.Wants("LLEN q", "+QUEUED")
	if got := c.Do("EXEC"); !strings.HasSuffix(got, " 1]") || !strings.HasPrefix(got, "[-") {
		t.Error(got)
	}
	c.Wants("AUTH stranger secret", "-NOPERM this user has no permissions in the virtual host '/'")
	c.Wants("HELLO 3 AUTH stranger secret", "-NOPERM this user has no permissions in the virtual host '/'")
	c.Wants("LLEN q", "1")                   // user and virtual host have not changed
	c.Wants("AUTH shopkeeper secret", "+OK") // the session starts in the user's only virtual host
	c.Wants("LPUSH goods x", "1")
	c.Wants("LLEN q", "0")
	c.Wants("KEYS *", `["goods"]`)
	c.Wants("SELECT 0", "-NOPERM this user has no permissions in the virtual host '/'")
	c.Wants("KEYS *", `["goods"]`)
	if err := n.Broker.SetPassword("guest", "other"); err != nil {
		t.Fatal(err)
	}
	c.Wants("RESET", "+RESET")
	for _, command := range []string{"LLEN q", "SELECT shop", "MULTI", "SUBSCRIBE a", "CLIENT LIST", "KEYS *", "INFO"} {
		c.Wants(command, "-NOAUTH Authentication required.")
	}
}

// TestReservedNames checks that queues with reserved names can be used, but not created.
func TestReservedNames(t *testing.T) {
	n := startNode(t, Options{})
	c := n.Dial()
	const reserved = "-ERR names that begin with 'amq.' are reserved"
	for _, command := range []string{
		"LPUSH amq.q x", "BRPOP amq.q 0.001", "LMOVE q amq.q LEFT LEFT", "XADD amq.q * a b", "XGROUP CREATE amq.q g $ MKSTREAM", "JOB.ENQUEUE amq.q x",
		"JOB.TAKE amq.q BLOCK 1",
	} {
		n.fill("q", "L")
		c.Wants(command, reserved)
	}
	c.Wants("WATCH amq.q", "+OK")
	c.Wants("MULTI", "+OK")
	c.Wants("LLEN amq.q", "+QUEUED")
	c.Wants("EXEC", "[0]")
	s, err := n.Broker.Operate("/")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.DeclareQueue(catalog.QueueSpec{Name: "amq.q", Durable: true, Policy: catalog.DefaultQueuePolicy()}); err != nil {
		t.Fatal(err)
	}
	c.Wants("LPUSH amq.q x", "1")
	c.Wants("BRPOP amq.q 0", `["amq.q" "x"]`)
}
