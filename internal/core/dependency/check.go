package dependency

import "fmt"

// check panics if the graph's counts are wrong. It is for builds with invariants.
func (g *Graph) check() {
	live, entries, waited, dependents := 0, 0, 0, 0
	for _, s := range g.slots {
		entries += s.entries
		if m := s.m; m != nil {
			live += m.state.Ready() + m.state.Unacked() + m.state.Scheduled() + m.state.Blocked()
			waited += len(m.waited)
			dependents += len(m.dependents)
		}
	}
	there := 0
	for _, r := range g.named {
		there += r.there
	}
	if live != g.live || entries != g.ids.Len() || waited != there || dependents == 0 && len(g.named) > 0 {
		panic(fmt.Sprintf("dependency: %d live messages of %d, %d entries of %d, %d waited for of %d, %d dependents and %d ids",
			live, g.live, entries, g.ids.Len(), waited, there, dependents, len(g.named)))
	}
}
