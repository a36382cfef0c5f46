package definitions

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/core/access"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// hashOfP is a cheap hash of the password "p" for tests, computed as RabbitMQ does.
const hashOfP = "AQIDBJdEbMXW6f+VE3iMWG11UIgf0WmDaykMvsT/nerMRhNV"

// defined holds all definitions that this file tests, for comparison.
type defined struct {
	Users       []catalog.User
	VHosts      []catalog.VHostInfo
	Permissions []catalog.Permission
	Topics      []catalog.TopicPermission
}

func definitionsOf(b *node) defined {
	return defined{b.Users(), b.VHosts(), b.Permissions("", ""), b.TopicPermissions("", "")}
}

// put1 adapts methods that also report whether something was created.
func put1(_ bool, err error) error { return err }

// firstExchanges is the number of predeclared exchanges of a virtual host.
const firstExchanges = 7

func TestFreshFolderHasGuest(t *testing.T) {
	b := openNode(t, vfs.NewMem())
	defer mustClose(t, b)
	want := defined{
		Users: []catalog.User{{
			Name: "guest", Tags: []string{"administrator"}, Hash: "RlcBCaf8QOGqXcBvtmH5oF4CqckHF6HoOEwPGR78fhA4MP+o", Algorithm: access.RabbitSHA256, LoopbackOnly: true,
		}},
		VHosts:      []catalog.VHostInfo{{VHostSpec: catalog.VHostSpec{Name: "/"}, Exchanges: firstExchanges}},
		Permissions: []catalog.Permission{{User: "guest", VHost: "/", Configure: ".*", Write: ".*", Read: ".*"}},
	}
	if got := definitionsOf(b); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	must(t, b.Authenticate("guest", "guest", true))
}

// TestDefaultsThatAreDeletedStayAway deletes the default definitions, and recreates a part of them
// differently.
func TestDefaultsThatAreDeletedStayAway(t *testing.T) {
	mem := vfs.NewMem()
	b := openNode(t, mem)
	must(t, b.DeleteUser("guest"))
	must(t, b.DeleteVHost("/"))
	for _, how := range []string{"crash", "clean stop", "crash after a clean stop"} {
		if how == "clean stop" {
			mustClose(t, b)
		} else {
			mem = mem.CrashClone(rand.New(rand.NewPCG(1, 2)))
		}
		b = openNode(t, mem)
		if d := definitionsOf(b); len(d.Users)+len(d.VHosts)+len(d.Permissions) > 0 {
			t.Fatalf("after a %s: %+v", how, d)
		}
		if err := b.Authenticate("guest", "guest", true); !errors.Is(err, failure.ErrAccessRefused) {
			t.Fatalf("after a %s: %v", how, err)
		}
	}
	must(t, put1(b.PutUser(catalog.UserSpec{Name: "guest", Hash: hashOfP})))
	must(t, put1(b.PutVHost(catalog.VHostSpec{Name: "/"})))
	must(t, b.checkpoint())
	b = openNode(t, mem.CrashClone(rand.New(rand.NewPCG(1, 2))))
	defer mustClose(t, b)
	if d := definitionsOf(b); len(d.Permissions) > 0 || d.Users[0].Hash != hashOfP {
		t.Errorf("the new guest has what the old one had: %+v", d)
	}
}

// TestAccessSurvivesAnything makes random changes and compares the broker with a naive model,
// across crashes, clean stops and checkpoints.
func TestAccessSurvivesAnything(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { runAccessTwin(t, seed, 400) })
	}
}

// naiveAccess is the model: lists that are searched linearly.
type naiveAccess struct{ defined }

func (n *naiveAccess) user(name string) *catalog.User {
	for i := range n.Users {
		if n.Users[i].Name == name {
			return &n.Users[i]
		}
	}
	return nil
}

func (n *naiveAccess) vhost(name string) *catalog.VHostInfo {
	for i := range n.VHosts {
		if n.VHosts[i].Name == name {
			return &n.VHosts[i]
		}
	}
	return nil
}

func (n *naiveAccess) deleteUser(name string) {
	n.Users = slices.DeleteFunc(n.Users, func(u catalog.User) bool { return u.Name == name })
	n.Permissions = slices.DeleteFunc(n.Permissions, func(p catalog.Permission) bool { return p.User == name })
	n.Topics = slices.DeleteFunc(n.Topics, func(p catalog.TopicPermission) bool { return p.User == name })
}

func (n *naiveAccess) deleteVHost(name string) {
	n.VHosts = slices.DeleteFunc(n.VHosts, func(v catalog.VHostInfo) bool { return v.Name == name })
	n.Permissions = slices.DeleteFunc(n.Permissions, func(p catalog.Permission) bool { return p.VHost == name })
	n.Topics = slices.DeleteFunc(n.Topics, func(p catalog.TopicPermission) bool { return p.VHost == name })
}

// sameSet compares two lists regardless of order.
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
	b := openNode(t, mem)
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
			spec := catalog.UserSpec{Name: user, Hash: hashOfP, Tags: []string{pattern}, MakeOnly: rng.IntN(4) == 0}
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
				n.Users = append(n.Users, catalog.User{Name: user, LoopbackOnly: user == "guest", Made: now.Made})
				u = n.user(user)
			}
			u.Tags, u.Hash, u.Algorithm = spec.Tags, hashOfP, access.RabbitSHA256
		case 2:
			if !refused(step, b.DeleteUser(user), u != nil, failure.ErrUserNotFound) {
				n.deleteUser(user)
			}
		case 3, 4:
			must(t, put1(b.PutVHost(catalog.VHostSpec{Name: vhost, Description: pattern})))
			if v == nil {
				n.VHosts = append(n.VHosts, catalog.VHostInfo{VHostSpec: catalog.VHostSpec{Name: vhost}, Exchanges: firstExchanges})
				v = n.vhost(vhost)
			}
			v.Description = pattern
		case 5:
			if !refused(step, b.DeleteVHost(vhost), v != nil, failure.ErrVHostNotFound) {
				n.deleteVHost(vhost)
			}
		case 6, 7:
			p := catalog.Permission{User: user, VHost: vhost, Configure: pattern, Write: "", Read: ".*"}
			want := failure.ErrUserNotFound
			if u != nil {
				want = failure.ErrVHostNotFound
			}
			if !refused(step, put1(b.SetPermission(p)), u != nil && v != nil, want) {
				n.Permissions = append(slices.DeleteFunc(n.Permissions, func(o catalog.Permission) bool { return o.User == user && o.VHost == vhost }), p)
			}
		case 8:
			if err := b.DeletePermission(user, vhost); err == nil {
				n.Permissions = slices.DeleteFunc(n.Permissions, func(o catalog.Permission) bool { return o.User == user && o.VHost == vhost })
			}
		case 9:
			p := catalog.TopicPermission{User: user, VHost: vhost, Exchange: fmt.Sprint("x", rng.IntN(2)), Write: pattern, Read: ""}
			if put1(b.SetTopicPermission(p)) == nil {
				n.Topics = append(slices.DeleteFunc(n.Topics, func(o catalog.TopicPermission) bool {
					return o.User == user && o.VHost == vhost && o.Exchange == p.Exchange
				}), p)
			}
		case 10:
			exchange := []string{"x0", "x1", ""}[rng.IntN(3)]
			if b.DeleteTopicPermission(user, vhost, exchange) == nil {
				n.Topics = slices.DeleteFunc(n.Topics, func(o catalog.TopicPermission) bool {
					return o.User == user && o.VHost == vhost && (exchange == "" || o.Exchange == exchange)
				})
			}
		case 11:
			if !refused(step, b.SetUserLimit(user, catalog.LimitChannels, int64(step)), u != nil, failure.ErrUserNotFound) {
				u.Limits = catalog.Limits{catalog.LimitChannels: int64(step)}
			}
			if !refused(step, b.SetVHostLimit(vhost, catalog.LimitQueues, int64(step)), v != nil, failure.ErrVHostNotFound) {
				v.Limits = catalog.Limits{catalog.LimitQueues: int64(step)}
			}
		case 12:
			want, err := b.Hash()
			must(t, err)
			switch rng.IntN(3) {
			case 0:
				mustClose(t, b)
			case 1:
				must(t, b.checkpoint())
				fallthrough
			default:
				mem = mem.CrashClone(rng)
			}
			b = openNode(t, mem)
			if got, err := b.Hash(); got != want || err != nil {
				t.Fatalf("step %d: hash %x, want %x, %v", step, got, want, err)
			}
		}
		d := definitionsOf(b)
		if !sameSet(d.Users, n.Users) || !sameSet(d.VHosts, n.VHosts) || !sameSet(d.Permissions, n.Permissions) || !sameSet(d.Topics, n.Topics) {
			t.Fatalf("step %d:\n got %+v\nwant %+v", step, d, n.defined)
		}
	}
	mustClose(t, b)
}

// TestCheckpointWithoutUsers reads a checkpoint of versions that knew only guest.
func TestCheckpointWithoutUsers(t *testing.T) {
	b := openNode(t, vfs.NewMem())
	defer mustClose(t, b)
	must(t, b.SetParameter(catalog.Parameter{VHost: "/", Component: "c", Name: "n", Value: []byte("1")}))
	old := catalog.New(noEngine{}, catalog.Options{})
	for f := range b.state.Facts {
		if _, users := f.(*catalog.AccessFact); !users {
			r := codec.NewReader(f.Append(nil))
			must(t, old.Apply(1, r.Prefixed()))
		}
	}
	if got, want := old.Hash(), b.state.Hash(); got != want || len(old.Users()) != 1 {
		t.Errorf("hash %x, want %x; %+v", got, want, old.Users())
	}
}
