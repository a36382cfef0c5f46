package inspect

import (
	"cmp"
	"errors"
	"log/slog"
	"slices"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Description is what a broker would have after starting on a data folder.
type Description struct {
	VHosts []VHostDescription // by name
	Users  int
}

// VHostDescription is the durable definitions of a virtual host and what its queues hold.
type VHostDescription struct {
	Name      string
	Exchanges []ExchangeDescription // by name; predeclared ones only if something is bound to them
	Queues    []QueueDescription    // by name
	Bindings  int                   // without those that every queue has to the default exchange
}

// ExchangeDescription is a durable exchange.
type ExchangeDescription struct {
	Name, Type string
	Bindings   int // whose source it is
}

// QueueDescription is a durable queue and its persistent messages, including those that have
// expired since.
type QueueDescription struct {
	Name      string
	Ready     int
	Scheduled int   // messages whose time has not come, or that wait for others
	Bytes     int64 // of the bodies of the ready ones
	Bindings  int   // to it, without the one to the default exchange
	Lost      int   // messages that are counted above and missing from the log: a repair cut them, or their file is gone
}

// Describe reads the definitions and queues of a data folder that no broker uses, with the code of
// a start. It changes nothing but the lock file, and ignores a torn end, as a start does. machines
// get their entries from the log. Errors: vfs.ErrLocked, store.ErrCorrupt,
// store.ErrUnsupportedFormat, and those of the machines.
func Describe(fs vfs.FS, dir string, machines map[uint32]statemachine.Machine) (d Description, err error) {
	o := broker.Options{Logger: slog.New(slog.DiscardHandler), StateMachines: machines}
	err = broker.Replay(fs, dir, o, func(r broker.Replayed) error {
		d.Users = len(r.Broker.Users())
		for v := range r.Broker.AllVHosts() {
			vh, err := describeVHost(r, v)
			if err != nil {
				return err
			}
			d.VHosts = append(d.VHosts, vh)
		}
		return nil
	})
	if err != nil {
		return Description{}, err
	}
	return d, nil
}

func describeVHost(r broker.Replayed, v *shard.VHost) (VHostDescription, error) {
	d := VHostDescription{Name: v.Name}
	table := v.Table()
	to := map[routing.QueueID]int{}
	for bind := range table.Bindings() {
		to[bind.ToQueue]++
		d.Bindings++
	}
	for x := range table.Exchanges() {
		if x.BindingCount() > 0 || !catalog.Predeclared(x.Spec.Name) {
			d.Exchanges = append(d.Exchanges, ExchangeDescription{x.Spec.Name, x.Spec.Type, x.BindingCount()})
		}
	}
	for def := range v.All(table) {
		q := shard.QueueOf(def)
		st := r.At(q).Deliveries()
		lost, err := countLost(r.Broker.NewReader(q), st)
		if err != nil {
			return d, err
		}
		d.Queues = append(d.Queues, QueueDescription{
			Name: q.Name, Ready: st.Ready(), Scheduled: st.Scheduled() + st.Blocked(), Bytes: st.ReadyBytes(),
			Bindings: to[routing.QueueID(q.ID)], Lost: lost,
		})
	}
	slices.SortFunc(d.Queues, func(a, b QueueDescription) int { return cmp.Compare(a.Name, b.Name) })
	return d, nil
}

// countLost reads every message and counts those that the log no longer has.
func countLost(r *store.Reader, st *queue.Deliveries) (n int, err error) {
	st.Each(0, func(it *queue.Item, _ queue.Status) bool {
		_, err = r.Read(it.Index, it.Sub)
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
			n, err = n+1, nil
		}
		return err == nil
	})
	return n, err
}
