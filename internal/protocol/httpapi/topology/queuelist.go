package topology

import (
	"net/http"
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// place is a queue of which only the name is known.
type place struct{ vhost, name string }

// listQueues lists the queues of a virtual host, or of all that the caller may see. It starts from
// the names alone, because there may be very many.
func (t *topology) listQueues(r *http.Request) (any, error) {
	var places []place
	for _, vhost := range t.visible(r) {
		err := t.look(vhost, func(s *broker.Session) error {
			for _, name := range s.QueueNames() {
				places = append(places, place{vhost, name})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	extent := t.extentOf(r)
	c := rest.Collection[place, any]{
		Name: func(p place) string { return p.name },
		Sort: t.sortQueues,
		Show: func(some []place) ([]any, error) {
			return inPlaces(t, some, func(st *inspect.QueueStatus, vhost string) any { return t.queueObject(st, vhost, extent) })
		},
	}
	return rest.Listing(r, places, c)
}

// visible returns the virtual host in the path, or else all that the caller may see.
func (t *topology) visible(r *http.Request) []string {
	if r.PathValue("vhost") != "" {
		return []string{rest.Name(r, "vhost")}
	}
	return rest.List(t.VHosts(r), func(v catalog.VHostInfo) string { return v.Name })
}

// inPlaces shows queues in the order of their places. It leaves out queues that were deleted
// meanwhile.
func inPlaces[V any](t *topology, places []place, show func(st *inspect.QueueStatus, vhost string) V) ([]V, error) {
	perVHost := map[string][]string{}
	for _, p := range places {
		perVHost[p.vhost] = append(perVHost[p.vhost], p.name)
	}
	shown := make(map[place]V, len(places))
	for vhost, names := range perVHost {
		err := t.look(vhost, func(s *broker.Session) error {
			found, err := inspect.QueuesByName(s, names)
			for i := range found {
				shown[place{vhost, found[i].Name}] = show(&found[i], vhost)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	out := make([]V, 0, len(places))
	for _, p := range places {
		if v, ok := shown[p]; ok {
			out = append(out, v)
		}
	}
	return out, nil
}

// figures are the fields by which queues can be sorted without showing all of them.
var figures = map[string]func(st *inspect.QueueStatus) any{
	"messages":                func(st *inspect.QueueStatus) any { return st.Ready + st.Unacked },
	"messages_ready":          func(st *inspect.QueueStatus) any { return st.Ready },
	"messages_unacknowledged": func(st *inspect.QueueStatus) any { return st.Unacked },
	"message_bytes":           func(st *inspect.QueueStatus) any { return st.Bytes + st.UnackedBytes },
	"consumers":               func(st *inspect.QueueStatus) any { return st.Consumers },
	"memory":                  func(st *inspect.QueueStatus) any { return st.Memory },
}

// sortQueues returns the values to sort queues by, or nil if that requires showing all of them.
func (t *topology) sortQueues(path string, places []place) []any {
	switch path {
	case "name":
		return rest.List(places, func(p place) any { return p.name })
	case "vhost":
		return rest.List(places, func(p place) any { return p.vhost })
	}
	if value, ok := strings.CutSuffix(path, "_details.rate"); ok {
		return t.queueRates(value, places)
	}
	if figure := figures[path]; figure != nil {
		return t.queueFigures(figure, places)
	}
	return nil
}

// queueRates returns the rates of a value of queues. They come from samples alone; no queue is
// asked.
func (t *topology) queueRates(value string, places []place) []any {
	ids := make([]uint64, 0, len(places))
	for len(ids) < len(places) {
		some := places[len(ids):]
		if n := slices.IndexFunc(some, func(p place) bool { return p.vhost != some[0].vhost }); n > 0 {
			some = some[:n]
		}
		err := t.look(some[0].vhost, func(s *broker.Session) error {
			ids = append(ids, s.QueueIDs(rest.List(some, func(p place) string { return p.name }))...)
			return nil
		})
		if err != nil {
			return nil // showing them fails too
		}
	}
	return t.monitor.QueueRates(value, ids)
}

// queueFigures returns current values of queues.
func (t *topology) queueFigures(figure func(st *inspect.QueueStatus) any, places []place) []any {
	type valued struct {
		place
		value any
	}
	found, err := inPlaces(t, places, func(st *inspect.QueueStatus, vhost string) valued { return valued{place{vhost, st.Name}, figure(st)} })
	if err != nil {
		return nil // showing them fails too
	}
	values := make([]any, len(places))
	for i, at := 0, 0; i < len(places); i++ {
		if at < len(found) && found[at].place == places[i] {
			values[i] = found[at].value
			at++
		}
	}
	return values
}
