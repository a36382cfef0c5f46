package broker

import (
	"cmp"
	"maps"
	"slices"

	"fiveways/internal/storage/store"
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
		Limits: maps.Clone(v.info.Limits), Queues: int(v.queues.Load()),
	}
}

// PutVHost makes a virtual host with the predeclared exchanges, or changes what is noted about one. It returns when that
// is durable. Nobody has a permission in a new one. Errors: ErrInvalidName, ErrLogFailed.
func (b *Broker) PutVHost(spec VHostSpec) (created bool, err error) {
	if err := checkName("vhost", spec.Name); err != nil {
		return false, err
	}
	err = b.changeAccess(func() (*accessFact, error) {
		f := &vhostFact{Name: spec.Name, Description: spec.Description, Tags: cleanTags(spec.Tags), DefaultQueueType: spec.DefaultQueueType}
		v, ok := b.catalog.vhost(spec.Name)
		if ok {
			f.Limits = v.info.Limits
		}
		created = !ok
		return &accessFact{VHost: f}, nil
	})
	return created, err
}

// DeleteVHost deletes a virtual host with its exchanges, bindings, permissions and queues, with all their messages, and
// ends the sessions on it. It is one fact: after a crash all of it is there or nothing. Errors: ErrVHostNotFound,
// ErrLogFailed.
func (b *Broker) DeleteVHost(name string) error {
	c := b.catalog
	c.mu.Lock()
	v, ok := c.vhost(name)
	if !ok {
		c.mu.Unlock()
		return vhostNotFound(name)
	}
	release, err := b.dropAll(v)
	if err != nil {
		c.mu.Unlock()
		return err
	}
	f := &accessFact{Delete: true, VHost: &vhostFact{Name: name}}
	c.applyAccess(f) //nolint:errcheck // only a pattern can be wrong
	index := c.recordData(f.append(nil))
	c.mu.Unlock()
	reason := &Error{Err: ErrVHostDeleted, Kind: "vhost", Name: name, VHost: name}
	b.sessions.evict(reason, func(s *Session) bool { return s.vhost == v })
	if err := c.await(index); err != nil {
		return err
	}
	release() // not before: after a crash the queues might still need the bodies
	return nil
}

// dropAll ends all queues of a virtual host and returns what gives their bodies back to the log.
func (b *Broker) dropAll(v *VHost) (release func(), err error) {
	perShard := map[*shard][]*Queue{}
	for _, id := range v.table.Load().Queues() {
		if q, ok := b.queueByID(uint64(id)); ok {
			perShard[q.shard] = append(perShard[q.shard], q)
		}
	}
	bodies := map[*shard][]store.Run{}
	for sh, queues := range perShard {
		closed := sh.call(func() {
			for _, q := range queues {
				_, runs, e := sh.drop(q, dropWhen{})
				bodies[sh] = append(bodies[sh], runs...)
				err = cmp.Or(err, e)
			}
		})
		if err = cmp.Or(err, closed); err != nil {
			return nil, err
		}
	}
	return func() {
		for sh, runs := range bodies {
			b.store.ReleaseRuns(sh.id, runs)
		}
	}, nil
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
