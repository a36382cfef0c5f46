package overview

import (
	"net/http"
	"runtime"

	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// object is a JSON object.
type object = map[string]any

// named is a feature of the node with a name.
type named struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Enabled     bool   `json:"enabled"`
}

// exchangeTypes are the supported exchange types.
var exchangeTypes = []named{
	{routing.TypeDirect, "AMQP direct exchange, as per the AMQP specification", true},
	{routing.TypeFanout, "AMQP fanout exchange, as per the AMQP specification", true},
	{routing.TypeHeaders, "AMQP headers exchange, as per the AMQP specification", true},
	{routing.TypeTopic, "AMQP topic exchange, as per the AMQP specification", true},
	{routing.TypeDelayed, "exchange that holds messages for as long as they ask", true},
	{routing.TypeHash, "consistent hashing of routing keys, headers or properties", true},
	{routing.TypeModulusHash, "hashing of routing keys by the number of queues", true},
	{routing.TypeRandom, "one queue by chance", true},
	{routing.TypeLocalRandom, "one queue of this node by chance", true},
	{routing.TypeHistory, "exchange that shows its last messages to queues that are bound later", true},
}

// totals are the numbers of objects.
type totals struct {
	Channels    int `json:"channels"`
	Connections int `json:"connections"`
	Consumers   int `json:"consumers"`
	Exchanges   int `json:"exchanges"`
	Queues      int `json:"queues"`
}

// overview summarizes everything that the caller may see.
func (p *api) overview(r *http.Request) (any, error) {
	q := query(r)
	all := rest.CallerOf(r.Context()).Monitors()
	sum, objects := p.seen(r, q, all)
	out := object{
		"management_version": p.o.RabbitMQ, "rates_mode": "basic", "sample_retention_policies": p.retention(), "exchange_types": exchangeTypes,
		"product_version": p.o.ProductVersion(), "product_name": p.o.Product, "rabbitmq_version": p.o.RabbitMQ, "fiveways_version": p.o.Version, "cluster_name": p.o.Cluster(),
		"erlang_version": runtime.Version(), "erlang_full_version": runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH,
		"release_series_support_status": "supported", "disable_stats": false, "enable_queue_totals": false, "is_op_policy_updating_enabled": true,
		"message_stats": sum.Stats, "queue_totals": sum.Lengths, "object_totals": objects, "statistics_db_event_queue": 0,
		"alarms": p.short(), "history_since": p.o.Monitor.Since(),
	}
	if all {
		out["churn_rates"], out["node"], out["listeners"], out["contexts"] = p.o.Monitor.Churn(q), p.o.Name, p.allListeners(), p.contexts()
	}
	return out, nil
}

// short lists the scarce resources that block publishers: memory or disk. The page shows it to
// everyone.
func (p *api) short() []string {
	if a := p.Broker.Alarm(); a != nil {
		return []string{resources[a.Reason]}
	}
	return []string{}
}

// retention returns for how many seconds samples are kept: of the node and its sums, of queues and
// the like, and of details, which are not kept.
func (p *api) retention() object {
	return object{"global": []int{int(monitor.Fine.Seconds()), int(monitor.Coarse.Seconds())}, "basic": []int{60}, "detailed": []int{60}}
}

// seen sums up what the caller may see.
func (p *api) seen(r *http.Request, q monitor.Query, all bool) (sum monitor.Sum, n totals) {
	if all {
		sum = p.o.Monitor.Total(q)
	}
	visible := map[string]bool{}
	for _, v := range p.VHosts(r) {
		visible[v.Name] = true
		n.Exchanges += v.Exchanges
		n.Queues += v.Queues
		if !all {
			of := p.o.Monitor.VHost(v.Name, q)
			sum.Add(&of)
		}
	}
	p.o.Monitor.Read(func(s *inspect.Sample, _ *monitor.Edge, _ *monitor.Process) {
		for i := range s.Queues {
			if visible[s.Queues[i].VHost] {
				n.Consumers += s.Queues[i].Consumers
			}
		}
	})
	for _, c := range p.connections(r, isShown) {
		n.Connections++
		n.Channels += len(c.Channels())
	}
	return sum, n
}
