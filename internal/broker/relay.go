package broker

import (
	"fiveways/internal/core/forward"
	"fiveways/internal/core/routing"
)

// routeOut routes a message that the engine sends on from an exchange. ok is false when there is no
// such exchange.
func (v *VHost) routeOut(exchange string, m *forward.Message, past routing.Past) (t Targets, ok bool) {
	table := v.Table()
	x, ok := table.Exchange(exchange)
	if !ok {
		return t, false
	}
	var r routing.Route
	rm := m.Routed()
	rm.Past = past
	table.RouteFrom(x, &rm, &r)
	return v.resolve(r.Queues), true
}
