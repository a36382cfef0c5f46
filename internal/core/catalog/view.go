package catalog

import (
	"cmp"
	"iter"
	"slices"

	"fiveways.dev/fiveways/internal/core/routing"
)

// VHostID identifies the virtual host of the rights, which may have been deleted.
func (r *Rights) VHostID() VHostID { return r.in.ID() }

// Version returns VHost.Version of the virtual host.
func (r *Rights) Version() uint64 { return r.in.Version() }

// HasQueue reports whether the virtual host has a queue of this name, exclusive ones included.
func (r *Rights) HasQueue(name string) bool {
	_, ok := r.in.Table().Queue(name)
	return ok
}

// HasExchange reports whether the virtual host has an exchange of this name.
func (r *Rights) HasExchange(name string) bool {
	_, ok := r.in.Table().Exchange(name)
	return ok
}

// QueueNames returns the sorted names of the queues of the virtual host.
func (r *Rights) QueueNames() (names []string) {
	for name := range r.in.Table().Queues() {
		names = append(names, name)
	}
	return names
}

// QueueIDs returns the ids of queues in the order of the names, 0 for a queue that does not exist.
func (r *Rights) QueueIDs(names []string) []uint64 {
	table := r.in.Table()
	ids := make([]uint64, len(names))
	for i, name := range names {
		id, _ := table.Queue(name)
		ids[i] = uint64(id)
	}
	return ids
}

// ListBindings returns the bindings of the virtual host, except those from the default exchange.
func (r *Rights) ListBindings() []BindSpec { return r.specs(r.in.Table().Bindings()) }

// BindingsWith returns the bindings with an argument, except those from the default exchange.
func (r *Rights) BindingsWith(arg string) []BindSpec {
	return r.specs(func(yield func(routing.Binding) bool) {
		for b := range r.in.Table().Bindings() {
			if _, has := b.Args.Get(arg); has && !yield(b) {
				return
			}
		}
	})
}

// BindingsFrom returns the bindings whose source is an exchange; none for the default exchange.
func (r *Rights) BindingsFrom(exchange string) []BindSpec {
	return r.specs(r.in.Table().BindingsFrom(exchange))
}

// BindingsTo returns the bindings to a queue or an exchange, except those from the default
// exchange.
func (r *Rights) BindingsTo(destination string, toExchange bool) []BindSpec {
	t := r.in.Table()
	to := routing.Destination{Exchange: destination}
	if !toExchange {
		id, ok := t.Queue(destination)
		if !ok {
			return nil
		}
		to = routing.Destination{Queue: id}
	} else if destination == "" {
		return nil // routing.Destination would treat the empty name as a queue
	}
	return r.specs(t.BindingsTo(to))
}

// specs describes bindings, sorted. It leaves out those whose queue is gone.
func (r *Rights) specs(bindings iter.Seq[routing.Binding]) (all []BindSpec) {
	for b := range bindings {
		spec := BindSpec{Source: b.Source, Key: b.Key, Args: b.Args, Destination: b.ToExchange, ToExchange: b.ToExchange != ""}
		if !spec.ToExchange {
			q, ok := r.state.Queue(uint64(b.ToQueue))
			if !ok {
				continue
			}
			spec.Destination = q.Name
		}
		all = append(all, spec)
	}
	slices.SortStableFunc(all, func(a, b BindSpec) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Destination, b.Destination), cmp.Compare(a.Key, b.Key))
	})
	return all
}
