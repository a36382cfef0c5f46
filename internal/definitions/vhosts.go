package definitions

import (
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
)

// VHosts returns all virtual hosts, by name.
func (a *Admin) VHosts() (all []catalog.VHostInfo) {
	for _, v := range a.state.VHosts() {
		all = append(all, a.info(v))
	}
	return all
}

// VHost returns a virtual host. Errors: ErrVHostNotFound.
func (a *Admin) VHost(name string) (catalog.VHostInfo, error) {
	v, ok := a.state.VHost(name)
	if !ok {
		return catalog.VHostInfo{}, catalog.VHostNotFound(name)
	}
	return a.info(v), nil
}

func (a *Admin) info(v *catalog.VHost) catalog.VHostInfo {
	info := v.Info()
	info.Tapped = a.engine.Tapped(v)
	return info
}

// HasVHost reports whether a virtual host exists.
func (a *Admin) HasVHost(id catalog.VHostID) bool {
	v, ok := a.state.VHost(id.Name)
	return ok && v.Made == id.Made
}

// PutVHost creates a virtual host with the predeclared exchanges, or changes the metadata of an
// existing one. It returns when that is durable. Nobody has permissions in a new one. Errors:
// ErrInvalidName, ErrLogFailed.
func (a *Admin) PutVHost(spec catalog.VHostSpec) (created bool, err error) {
	if err := catalog.CheckName("vhost", spec.Name); err != nil {
		return false, err
	}
	err = a.changeAccess(func() (*catalog.AccessFact, error) {
		f := &catalog.VHostFact{
			Name: spec.Name, Description: strings.ToValidUTF8(spec.Description, "?"), Tags: catalog.CleanTags(spec.Tags),
			DefaultQueueType: strings.ToValidUTF8(spec.DefaultQueueType, "?"),
		}
		v, ok := a.state.VHost(spec.Name)
		if created = !ok; created {
			f.Made = a.journal.Last() + 1
		} else {
			f.Limits, f.Made = v.Fact().Limits, v.Made
		}
		return &catalog.AccessFact{VHost: f}, nil
	})
	return created, err
}

// DeleteVHost deletes a virtual host with its exchanges, bindings, permissions and queues, with all
// their messages, and ends its sessions. It is a single fact, so it is atomic. Errors:
// ErrVHostNotFound, ErrLogFailed.
func (a *Admin) DeleteVHost(name string) error {
	var v *catalog.VHost
	var queues []*catalog.Queue
	err := a.changeAccess(func() (*catalog.AccessFact, error) {
		var ok bool
		if v, ok = a.state.VHost(name); !ok {
			return nil, catalog.VHostNotFound(name)
		}
		queues = slices.Collect(v.All(v.Table()))
		return &catalog.AccessFact{Delete: true, VHost: &catalog.VHostFact{Name: name}}, nil
	})
	if v == nil {
		return err
	}
	reason := &failure.Error{Err: failure.ErrVHostDeleted, Kind: "vhost", Name: name, VHost: name}
	a.engine.EndSessions("", v, reason)
	a.watchers.vhostGone(v.ID())
	if err != nil {
		return err
	}
	return a.engine.DropQueues(queues) // not before: a checkpoint could lack the messages
}
