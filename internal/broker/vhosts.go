package broker

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// sortedVHosts are all virtual hosts by name.
func (c *catalog) sortedVHosts() (all []*VHost) {
	c.vhosts.Range(func(_, v any) bool {
		all = append(all, v.(*VHost))
		return true
	})
	slices.SortFunc(all, func(a, b *VHost) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// VHosts are all virtual hosts, by name.
func (b *Broker) VHosts() []VHostInfo {
	b.rules.mu.RLock()
	defer b.rules.mu.RUnlock()
	var all []VHostInfo
	for _, v := range b.catalog.sortedVHosts() {
		all = append(all, v.public())
	}
	return all
}

// VHost is one virtual host. Errors: ErrVHostNotFound.
func (b *Broker) VHost(name string) (VHostInfo, error) {
	v, ok := b.catalog.vhost(name)
	if !ok {
		return VHostInfo{}, vhostNotFound(name)
	}
	b.rules.mu.RLock()
	defer b.rules.mu.RUnlock()
	return v.public(), nil
}

// public is the virtual host as others see it. rules.mu is held.
func (v *VHost) public() VHostInfo {
	return VHostInfo{
		VHostSpec: VHostSpec{
			Name: v.Name, Description: v.info.Description, Tags: slices.Clone(v.info.Tags), DefaultQueueType: v.info.DefaultQueueType,
		},
		Limits: maps.Clone(v.info.Limits), Queues: int(v.queues.Load()), Exchanges: v.table.Load().ExchangeCount(),
	}
}

// PutVHost makes a virtual host with the predeclared exchanges, or changes what is noted about one. It returns when that
// is durable. Nobody has a permission in a new one. Errors: ErrInvalidName, ErrLogFailed.
func (b *Broker) PutVHost(spec VHostSpec) (created bool, err error) {
	if err := checkName("vhost", spec.Name); err != nil {
		return false, err
	}
	err = b.changeAccess(func() (*accessFact, error) {
		f := &vhostFact{
			Name: spec.Name, Description: strings.ToValidUTF8(spec.Description, "?"), Tags: cleanTags(spec.Tags),
			DefaultQueueType: strings.ToValidUTF8(spec.DefaultQueueType, "?"),
		}
		v, ok := b.catalog.vhost(spec.Name)
		if created = !ok; created {
			f.Made = b.catalog.index + 1
		} else {
			f.Limits, f.Made = v.info.Limits, v.made
		}
		return &accessFact{VHost: f}, nil
	})
	return created, err
}

// DeleteVHost deletes a virtual host with its exchanges, bindings, permissions and queues, with all their messages, and
// ends the sessions on it. It is one fact: after a crash all of it is there or nothing. Errors: ErrVHostNotFound,
// ErrLogFailed.
func (b *Broker) DeleteVHost(name string) error {
	var v *VHost
	var queues []*Queue
	err := b.changeAccess(func() (*accessFact, error) {
		var ok bool
		if v, ok = b.catalog.vhost(name); !ok {
			return nil, vhostNotFound(name)
		}
		queues = v.allQueues()
		return &accessFact{Delete: true, VHost: &vhostFact{Name: name}}, nil
	})
	if v == nil {
		return err
	}
	reason := &Error{Err: ErrVHostDeleted, Kind: "vhost", Name: name, VHost: name}
	b.sessions.evict(reason, func(s *Session) bool { return s.vhost == v })
	b.sessions.vhostGone(v.id())
	if err != nil {
		return err
	}
	return b.dropAll(queues) // not before the fact is durable: a checkpoint without the messages could be there first
}

// VHostID says which virtual host is meant: one that is made anew under the name of one that was deleted is another.
type VHostID struct {
	Name string
	Made uint64
}

func (v *VHost) id() VHostID { return VHostID{v.Name, v.made} }

// VHostID is the session's virtual host. It may have been deleted.
func (s *Session) VHostID() VHostID { return s.vhost.id() }

// HasVHost tells whether a virtual host is there.
func (b *Broker) HasVHost(id VHostID) bool { return b.vhostOf(id) != nil }

// vhostOf finds a virtual host; nil when it was deleted.
func (b *Broker) vhostOf(id VHostID) *VHost {
	if v, ok := b.catalog.vhost(id.Name); ok && v.made == id.Made {
		return v
	}
	return nil
}

// OnVHostDeleted has f told of every virtual host that was deleted, for what the broker does not know to be in it. f must not block.
func (b *Broker) OnVHostDeleted(f func(VHostID)) {
	b.sessions.mu.Lock()
	defer b.sessions.mu.Unlock()
	b.sessions.onVHostGone = append(b.sessions.onVHostGone, f)
}

func (v *VHost) allQueues() []*Queue { return slices.Collect(v.all(v.table.Load())) }

// dropAll ends queues whose deletion is durable.
func (b *Broker) dropAll(queues []*Queue) error {
	perShard := map[*shard][]*Queue{}
	for _, q := range queues {
		perShard[q.shard] = append(perShard[q.shard], q)
	}
	for sh, queues := range perShard {
		err := sh.call(func() {
			for _, q := range queues {
				_, bodies, _ := sh.drop(q, dropWhen{}) // without a condition it cannot fail
				b.store.ReleaseRuns(sh.id, bodies)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// check tells whether definitions of the virtual host may change: it may have been deleted while a session was on it.
// catalog.mu is held.
func (v *VHost) check() error {
	if v.gone {
		return vhostNotFound(v.Name)
	}
	return nil
}

func vhostNotFound(name string) error {
	return &Error{Err: ErrVHostNotFound, Kind: "vhost", Name: name, VHost: name}
}
