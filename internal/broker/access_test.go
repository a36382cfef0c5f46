package broker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"fiveways/internal/core/access"
	"fiveways/internal/storage/vfs"
)

// hashOfP is a cheap hash of the password "p" for tests, made by RabbitMQ's rule.
const hashOfP = "AQIDBJdEbMXW6f+VE3iMWG11UIgf0WmDaykMvsT/nerMRhNV"

// definitions is all that this file is about, for comparing.
type definitions struct {
	Users       []User
	VHosts      []VHostInfo
	Permissions []Permission
	Topics      []TopicPermission
}

func definitionsOf(b *Broker) definitions {
	return definitions{b.Users(), b.VHosts(), b.Permissions("", ""), b.TopicPermissions("", "")}
}

// put1 is for methods that also tell whether something was made.
func put1(_ bool, err error) error { return err }

// firstExchanges is how many exchanges every virtual host has from the beginning.
const firstExchanges = 7

func TestFreshFolderHasGuest(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	want := definitions{
		Users: []User{{
			Name: "guest", Tags: []string{"administrator"}, Hash: defaultSecret, Algorithm: access.RabbitSHA256, LoopbackOnly: true,
		}},
		VHosts:      []VHostInfo{{VHostSpec: VHostSpec{Name: "/"}, Exchanges: firstExchanges}},
		Permissions: []Permission{{"guest", "/", ".*", ".*", ".*"}},
	}
	if got := definitionsOf(b); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	must(t, b.Authenticate("guest", "guest", true))
}

// TestDefaultsThatAreDeletedStayAway deletes what every fresh folder has, and part of it comes back as something else.
func TestDefaultsThatAreDeletedStayAway(t *testing.T) {
	mem := vfs.NewMem()
	b := openBroker(t, mem, nil)
	must(t, b.DeleteUser("guest"))
	must(t, b.DeleteVHost("/"))
	for _, how := range []string{"crash", "clean stop", "crash after a clean stop"} {
		if how == "clean stop" {
			mustClose(t, b)
		} else {
			mem = mem.CrashClone(rand.New(rand.NewPCG(1, 2)))
		}
		b = openBroker(t, mem, nil)
		if d := definitionsOf(b); len(d.Users)+len(d.VHosts)+len(d.Permissions) > 0 {
			t.Fatalf("after a %s: %+v", how, d)
		}
		if err := b.Authenticate("guest", "guest", true); !errors.Is(err, ErrAccessRefused) {
			t.Fatalf("after a %s: %v", how, err)
		}
	}
	must(t, put1(b.PutUser(UserSpec{Name: "guest", Hash: hashOfP})))
	must(t, put1(b.PutVHost(VHostSpec{Name: "/"})))
	must(t, b.checkpointTopology())
	b = openBroker(t, mem.CrashClone(rand.New(rand.NewPCG(1, 2))), nil)
	defer mustClose(t, b)
	if d := definitionsOf(b); len(d.Permissions) > 0 || d.Users[0].Hash != hashOfP {
		t.Errorf("the new guest has what the old one had: %+v", d)
	}
}

// TestCheckpointWithoutUsers is what versions wrote that knew only guest.
func TestCheckpointWithoutUsers(t *testing.T) {
	mem := vfs.NewMem()
	b := openBroker(t, mem, nil)
	c := newClient(t, b)
	c.queue("q", nil)
	want := definitionsOf(b)
	c.Close()
	var old []byte
	b.catalog.facts(func(f *topologyFact) bool {
		old = f.append(old)
		return true
	})
	b2 := &Broker{}
	newCatalog(b2)
	b2.shards = b.shards
	must(t, readFacts(bytes.NewReader(old), func(fact []byte) error { return b2.catalog.apply(1, fact) }))
	if got := definitionsOf(b2); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	mustClose(t, b)
}

// TestAccessSurvivesAnything makes random changes and compares what the broker says with a naive twin, over crashes,
// clean stops and checkpoints.
func TestAccessSurvivesAnything(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { runAccessTwin(t, seed, 400) })
	}
}

// naiveAccess is the twin: lists that are searched.
type naiveAccess struct{ definitions }

func (n *naiveAccess) user(name string) *User {
	for i := range n.Users {
		if n.Users[i].Name == name {
			return &n.Users[i]
		}
	}
	return nil
}

func (n *naiveAccess) vhost(name string) *VHostInfo {
	for i := range n.VHosts {
		if n.VHosts[i].Name == name {
			return &n.VHosts[i]
		}
	}
	return nil
}

func (n *naiveAccess) deleteUser(name string) {
	n.Users = slices.DeleteFunc(n.Users, func(u User) bool { return u.Name == name })
	n.Permissions = slices.DeleteFunc(n.Permissions, func(p Permission) bool { return p.User == name })
	n.Topics = slices.DeleteFunc(n.Topics, func(p TopicPermission) bool { return p.User == name })
}

func (n *naiveAccess) deleteVHost(name string) {
	n.VHosts = slices.DeleteFunc(n.VHosts, func(v VHostInfo) bool { return v.Name == name })
	n.Permissions = slices.DeleteFunc(n.Permissions, func(p Permission) bool { return p.VHost == name })
	n.Topics = slices.DeleteFunc(n.Topics, func(p TopicPermission) bool { return p.VHost == name })
}

// sameSet compares two lists whatever their order.
func sameSet[T any](a, b []T) bool {
	text := func(list []T) (out []string) {
		for _, x := range list {
			out = append(out, fmt.Sprintf("%+v", x))
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(text(a), text(b))
}

func runAccessTwin(t *testing.T, seed uint64, steps int) {
	rng := rand.New(rand.NewPCG(seed, 11))
	mem := vfs.NewMem()
	b := openBroker(t, mem, nil)
	n := &naiveAccess{definitionsOf(b)}
	made := map[uint64]bool{}
	users, vhosts := []string{"guest", "a", "b", "c"}, []string{"/", "v", "w"}
	refused := func(step int, err error, there bool, want error) bool {
		if there {
			must(t, err)
		} else if !errors.Is(err, want) {
			t.Fatalf("step %d: %v, want %v", step, err, want)
		}
		return !there
	}
	for step := range steps {
		user, vhost := users[rng.IntN(len(users))], vhosts[rng.IntN(len(vhosts))]
		u, v := n.user(user), n.vhost(vhost)
		pattern := fmt.Sprint("^", rng.IntN(9))
		switch rng.IntN(13) {
		case 0, 1:
			spec := UserSpec{Name: user, Hash: hashOfP, Tags: []string{pattern}, MakeOnly: rng.IntN(4) == 0}
			created, err := b.PutUser(spec)
			must(t, err)
			if created != (u == nil) {
				t.Fatalf("step %d: created %v", step, created)
			}
			if u != nil && spec.MakeOnly {
				break
			}
			if u == nil {
				now, err := b.User(user)
				if must(t, err); made[now.Made] {
					t.Fatalf("step %d: another user was made as number %d", step, now.Made)
				}
				made[now.Made] = true
				n.Users = append(n.Users, User{Name: user, LoopbackOnly: user == "guest", Made: now.Made})
				u = n.user(user)
			}
			u.Tags, u.Hash, u.Algorithm = spec.Tags, hashOfP, access.RabbitSHA256
		case 2:
			if !refused(step, b.DeleteUser(user), u != nil, ErrUserNotFound) {
				n.deleteUser(user)
			}
		case 3, 4:
			must(t, put1(b.PutVHost(VHostSpec{Name: vhost, Description: pattern})))
			if v == nil {
				n.VHosts = append(n.VHosts, VHostInfo{VHostSpec: VHostSpec{Name: vhost}, Exchanges: firstExchanges})
				v = n.vhost(vhost)
			}
			v.Description = pattern
		case 5:
			if !refused(step, b.DeleteVHost(vhost), v != nil, ErrVHostNotFound) {
				n.deleteVHost(vhost)
			}
		case 6, 7:
			p := Permission{user, vhost, pattern, "", ".*"}
			want := ErrUserNotFound
			if u != nil {
				want = ErrVHostNotFound
			}
			if !refused(step, put1(b.SetPermission(p)), u != nil && v != nil, want) {
				n.Permissions = append(slices.DeleteFunc(n.Permissions, func(o Permission) bool { return o.User == user && o.VHost == vhost }), p)
			}
		case 8:
			if err := b.DeletePermission(user, vhost); err == nil {
				n.Permissions = slices.DeleteFunc(n.Permissions, func(o Permission) bool { return o.User == user && o.VHost == vhost })
			}
		case 9:
			p := TopicPermission{user, vhost, fmt.Sprint("x", rng.IntN(2)), pattern, ""}
			if put1(b.SetTopicPermission(p)) == nil {
				n.Topics = append(slices.DeleteFunc(n.Topics, func(o TopicPermission) bool {
					return o.User == user && o.VHost == vhost && o.Exchange == p.Exchange
				}), p)
			}
		case 10:
			exchange := []string{"x0", "x1", ""}[rng.IntN(3)]
			if b.DeleteTopicPermission(user, vhost, exchange) == nil {
				n.Topics = slices.DeleteFunc(n.Topics, func(o TopicPermission) bool {
					return o.User == user && o.VHost == vhost && (exchange == "" || o.Exchange == exchange)
				})
			}
		case 11:
			if !refused(step, b.SetUserLimit(user, LimitChannels, int64(step)), u != nil, ErrUserNotFound) {
				u.Limits = Limits{LimitChannels: int64(step)}
			}
			if !refused(step, b.SetVHostLimit(vhost, LimitQueues, int64(step)), v != nil, ErrVHostNotFound) {
				v.Limits = Limits{LimitQueues: int64(step)}
			}
		case 12:
			want, err := b.Hash()
			must(t, err)
			switch rng.IntN(3) {
			case 0:
				mustClose(t, b)
			case 1:
				must(t, b.checkpointTopology())
				fallthrough
			default:
				mem = mem.CrashClone(rng)
			}
			b = openBroker(t, mem, nil)
			if got, err := b.Hash(); got != want || err != nil {
				t.Fatalf("step %d: hash %x, want %x, %v", step, got, want, err)
			}
		}
		d := definitionsOf(b)
		if !sameSet(d.Users, n.Users) || !sameSet(d.VHosts, n.VHosts) || !sameSet(d.Permissions, n.Permissions) || !sameSet(d.Topics, n.Topics) {
			t.Fatalf("step %d:\n got %+v\nwant %+v", step, d, n.definitions)
		}
	}
	mustClose(t, b)
}

// TestVHostDeletionIsWhole makes each operation on the disk during a deletion the last one: afterwards the virtual host
// is there with every message, or nothing of it is.
func TestVHostDeletionIsWhole(t *testing.T) {
	const messages = 5
	options := func(o *Options) { o.CheckpointBytes, o.SegmentBytes = 1, 4<<10 }
	for k := 1; ; k++ {
		mem := vfs.NewMem()
		fs := vfs.NewErrors(mem)
		b := openBroker(t, fs, options)
		must(t, put1(b.PutVHost(VHostSpec{Name: "v"})))
		must(t, put1(b.SetPermission(Permission{"guest", "v", ".*", ".*", ".*"})))
		c := newClientOn(t, b, "guest", "v")
		for _, q := range []string{"q1", "q2"} {
			c.queue(q, nil)
			for i := range messages {
				c.put("", q, fmt.Sprint("m", i), nil)
			}
		}
		newClient(t, b).queue("other", nil)
		c.Close()
		fs.CrashAt(k)
		deleted := b.DeleteVHost("v")
		b.checkpointDue(false)
		b.Close()
		for seed := range uint64(2) {
			again := openBroker(t, mem.CrashClone(rand.New(rand.NewPCG(uint64(k), seed))), options)
			if _, err := again.VHost("v"); err == nil {
				if deleted == nil {
					t.Fatalf("operation %d: deleted, and back", k)
				}
				c := newClientOn(t, again, "guest", "v")
				if a, b := len(c.drain("q1")), len(c.drain("q2")); a != messages || b != messages {
					t.Fatalf("operation %d: half of it is there: %d and %d messages", k, a, b)
				}
			} else if d := again.Permissions("", "v"); len(d) > 0 || again.Stats().Queues != 1 {
				t.Fatalf("operation %d: left behind: %+v, %d queues", k, d, again.Stats().Queues)
			}
			mustClose(t, again)
		}
		if !fs.Crashed() {
			return
		}
	}
}

func TestAccessFactBytes(t *testing.T) {
	for _, c := range []struct {
		fact *accessFact
		want string
	}{
		{&accessFact{VHost: &vhostFact{Name: "v", Limits: Limits{LimitQueues: 5}}}, `{"vhost":{"name":"v","limits":{"max-queues":5}}}`},
		{&accessFact{Delete: true, User: &userFact{Name: "u"}}, `{"delete":true,"user":{"name":"u"}}`},
		{&accessFact{User: &userFact{Name: "u", Secret: access.Secret{Algorithm: "a", Hash: "h", Scram: "s"}, Tags: []string{"t"}, LoopbackOnly: true, Made: 7}},
			`{"user":{"name":"u","algorithm":"a","hash":"h","scram":"s","tags":["t"],"loopback_only":true,"made":7}}`},
		{&accessFact{Permission: &permissionFact{"u", "v", "c", "w", "r"}}, `{"permission":{"user":"u","vhost":"v","configure":"c","write":"w","read":"r"}}`},
		{&accessFact{Topic: &topicFact{"u", "v", "x", "w", "r"}}, `{"topic_permission":{"user":"u","vhost":"v","exchange":"x","write":"w","read":"r"}}`},
		{&accessFact{Reset: true}, `{"reset":true}`},
	} {
		want := string(append(appendFact(nil, 17, len(c.want)), c.want...))
		if got := string(c.fact.append(nil)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// FuzzAccessFacts feeds damaged facts to the replay: an error or a change, never a panic, and what it made can be
// replayed.
func FuzzAccessFacts(f *testing.F) {
	for _, fact := range defaults {
		f.Add(mustPayload(fact))
	}
	f.Add([]byte(`{"permission":{"user":"guest","vhost":"/","write":"("}}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		b := &Broker{}
		newCatalog(b)
		if b.catalog.apply(1, append([]byte{factAccess}, payload...)) != nil {
			return
		}
		want := b.catalog.hash()
		again := &Broker{}
		newCatalog(again)
		for _, f := range b.catalog.accessFacts() {
			must(t, again.catalog.apply(1, append([]byte{factAccess}, mustPayload(f)...)))
		}
		if got := again.catalog.hash(); got != want {
			t.Errorf("replayed: %x, want %x", got, want)
		}
	})
}

func mustPayload(f *accessFact) []byte {
	b, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	return b
}
