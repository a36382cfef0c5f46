package broker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"fiveways/internal/core/queue"
)

// TestIDsTwin compares the table with a list, over ids that grow to many and shrink, some of them common to many messages.
func TestIDsTwin(t *testing.T) {
	type known struct {
		id string
		h  queue.Handle
	}
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 9))
		table := newIDs()
		var list []known // youngest first for each id, with some that are gone
		dead := map[queue.Handle]bool{}
		gone := func(en *idEntry) bool { return dead[en.h] }
		next := queue.Handle(1)
		pick := func() string { return fmt.Sprint(rng.IntN(1 + rng.IntN(3000))) }
		for step := range 12000 {
			switch op := rng.IntN(10); {
			case op < 5 || step < 3000:
				id := pick()
				table.add(sumOf([]byte(id)), uint32(next%7), next)
				list = slices.Insert(list, 0, known{id, next})
				next++
			case len(list) > 0:
				i := rng.IntN(len(list))
				dead[list[i].h] = true
				table.clean(cleanEach, gone)
			}
			if step%1000 == 999 && rng.IntN(3) == 0 {
				list = slices.DeleteFunc(list, func(k known) bool { return dead[k.h] })
				table = table.rebuilt(gone)
				if table.used != len(list) {
					t.Fatalf("seed %d, step %d: %d entries, want %d", seed, step, table.used, len(list))
				}
			}
			id := pick()
			var want, got []queue.Handle
			for _, k := range list {
				if k.id == id && !dead[k.h] {
					want = append(want, k.h)
				}
			}
			for e := table.first(sumOf([]byte(id))); e != 0; e = table.next(e) {
				if en := table.entry(e); !dead[en.h] {
					got = append(got, en.h)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, step %d: %q is at %v, want %v", seed, step, id, got, want)
			}
		}
	}
}

// Messages come and go: entries of those that are gone do not gather, nor does the room that many took.
func TestIDsStaySmall(t *testing.T) {
	o := &order{ids: newIDs(), asked: map[idSum]*asked{}}
	sh := &shard{orders: map[*VHost]*order{}}
	q := &Queue{vhost: &VHost{}, state: &queue.State{}, shard: sh}
	sh.orders[q.vhost] = o
	sh.enterOrder(q)
	next := 0
	put := func() {
		h := q.state.Publish(&queue.Item{})
		sh.arrive(q, h, &arrival{named: true, sum: sumOf(fmt.Append(nil, next))})
		next++
	}
	first := queue.MakeHandle(0, 1)
	settle := func(n int) {
		live := q.state.SettleRange(first, n, nil)
		sh.freed(q, first, n, live)
		first += queue.Handle(n)
	}
	const live = 20_000
	for range live {
		put()
	}
	for range 10 * live {
		put()
		settle(1)
		if o.ids.used > 2*live {
			t.Fatalf("%d entries for %d messages", o.ids.used, live)
		}
	}
	for range live - 100 {
		settle(1)
		o.tidy()
	}
	if n := len(o.ids.pages) * idPage; n > 8*(o.live+slackEntries) || o.live != 100 {
		t.Errorf("room for %d entries, %d messages", n, o.live)
	}
	settle(100)
	for range live {
		put()
	}
	settle(live)
	o.tidy()
	if o.ids.used > 0 || len(o.ids.pages) > 0 || o.slots[0].entries > 0 {
		t.Errorf("left behind: %d entries, %d pages", o.ids.used, len(o.ids.pages))
	}
	put()
	put()
	q.gone = true
	sh.leaveOrder(q)
	if len(sh.orders) > 0 {
		t.Error("an order without queues is kept")
	}
}
