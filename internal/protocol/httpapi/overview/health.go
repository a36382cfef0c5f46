package overview

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// check serves a health check. It answers 200 if trouble is nil, and otherwise 503 with the reason
// and the content of trouble. On success, well is added to the status.
func (p *api) check(path string, fn func(r *http.Request) (well, trouble object, err error)) {
	p.Handle(rest.Management, "GET /api/health/checks/"+path, func(r *http.Request) (rest.Answer, error) {
		well, trouble, err := fn(r)
		if err != nil {
			return rest.Answer{}, err
		}
		if trouble != nil {
			trouble["status"] = "failed"
			return rest.Answer{Status: http.StatusServiceUnavailable, Body: trouble}, nil
		}
		if well == nil {
			well = object{}
		}
		well["status"] = "ok"
		return rest.Answer{Status: http.StatusOK, Body: well}, nil
	})
}

func (p *api) healthPaths() {
	fine := func(*http.Request) (well, trouble object, err error) { return nil, nil, nil }
	p.check("alarms", p.alarms("There are alarms in effect in the cluster"))
	p.check("local-alarms", p.alarms("There are alarms in effect on the node"))
	p.check("certificate-expiration/{within}/{unit}", p.expiration)
	p.check("port-listener/{port}", p.portListener)
	p.check("protocol-listener/{protocol...}", p.protocolListener)
	p.check("virtual-hosts", fine)
	p.check("node-is-mirror-sync-critical", p.mirrorCritical)
	p.check("node-is-quorum-critical", p.quorumCritical)
	p.check("ready-to-serve-clients", p.ready)
	p.check("below-node-connection-limit", p.belowLimit)
	p.check("is-in-service", p.ready)
	p.Get(rest.Management, "/api/healthchecks/node", func(*http.Request) (any, error) { return p.nodeHealth(), nil })
	p.Get(rest.Management, "/api/healthchecks/node/{node}", p.ofNode(p.memberHealth))
}

// resources are RabbitMQ's names for the resources of alarms.
var resources = map[string]string{broker.LowOnMemory: "memory", broker.LowOnDisk: "disk"}

func (p *api) alarms(reason string) func(*http.Request) (well, trouble object, err error) {
	return func(*http.Request) (well, trouble object, err error) {
		a := p.Broker.Alarm()
		if a == nil {
			return nil, nil, nil
		}
		nodes := []string{p.o.Name}
		if a.Reason == broker.LowOnDisk && len(a.Nodes) > 0 {
			nodes = a.Nodes
		}
		alarms := make([]object, len(nodes))
		for i, name := range nodes {
			alarms[i] = object{"node": name, "resource": resources[a.Reason]}
		}
		return nil, object{"reason": reason, "alarms": alarms}, nil
	}
}

// later returns the time n units after now, by the name of the unit.
var later = map[string]func(now time.Time, n int) time.Time{
	"days":   func(now time.Time, n int) time.Time { return now.AddDate(0, 0, n) },
	"weeks":  func(now time.Time, n int) time.Time { return now.AddDate(0, 0, 7*n) },
	"months": func(now time.Time, n int) time.Time { return now.AddDate(0, n, 0) },
	"years":  func(now time.Time, n int) time.Time { return now.AddDate(n, 0, 0) },
}

// expiration checks whether the certificate expires soon.
func (p *api) expiration(r *http.Request) (well, trouble object, err error) {
	n, err := strconv.Atoi(rest.Name(r, "within"))
	if err != nil || n < 0 || n > 1000_000 {
		return nil, nil, rest.BadRequest("Invalid expiration value.")
	}
	unit := later[rest.Name(r, "unit")]
	if unit == nil {
		return nil, nil, rest.BadRequest("Time unit not recognised. Supported units: days, weeks, months, years.")
	}
	cert := p.o.CertificateInUse()
	if cert == nil || cert.NotAfter.After(unit(time.Now(), n)) {
		return nil, nil, nil
	}
	expired := []object{}
	for _, l := range p.shownListeners() {
		if slices.Contains([]string{"amqp", "sql", "redis", "etcd", "http"}, l.Protocol) {
			continue // without TLS
		}
		expired = append(expired, object{
			"node": p.o.Name, "protocol": l.Protocol, "interface": l.Address, "port": l.Port, "certfile_expires_on": []string{cert.NotAfter.UTC().Format(time.RFC3339)},
		})
	}
	return nil, object{"reason": "Certificates expiring", "expired": expired}, nil
}

func (p *api) portListener(r *http.Request) (well, trouble object, err error) {
	port, err := strconv.Atoi(rest.Name(r, "port"))
	if err != nil {
		return nil, nil, rest.BadRequest("Invalid port")
	}
	ports := []int{}
	_, served := p.servedHere(r)
	for _, e := range served {
		_, have := place(&e)
		if have == port {
			return object{"port": port}, nil, nil
		}
		ports = append(ports, have)
	}
	return nil, object{"reason": "No active listener", "missing": port, "ports": ports}, nil
}

// aliases are other names of protocols. The protocols of RabbitMQ's plugins are not served,
// whatever their name.
var aliases = map[string]string{
	"amqp091": "amqp", "amqp0-9-1": "amqp", "amqp0.9.1": "amqp", "amqps": "amqp/ssl", "amqp091/ssl": "amqp/ssl", "postgresql": "sql", "postgres": "sql",
	"http/ssl": "https", "resp": "redis",
}

func (p *api) protocolListener(r *http.Request) (well, trouble object, err error) {
	asked := rest.Name(r, "protocol")
	name := cmp.Or(aliases[asked], asked)
	protocols := []string{}
	for _, l := range listenersOf(p.servedHere(r)) {
		if l.Protocol == name {
			return object{"protocol": l.Protocol}, nil, nil
		}
		protocols = append(protocols, l.Protocol)
	}
	return nil, object{"reason": "No active listener", "missing": asked, "protocols": protocols}, nil
}

// nodeHealth is the health check for older clients of RabbitMQ.
func (p *api) nodeHealth() object {
	if a := p.Broker.Alarm(); a != nil {
		return object{"status": "failed", "reason": "resource alarm in effect: " + a.Reason}
	}
	return object{"status": "ok"}
}

// memberHealth is nodeHealth for a node by its name.
func (p *api) memberHealth(_ *http.Request, m *protocol.Member) any {
	if !m.Up {
		return object{"status": "failed", "reason": "nodedown"}
	}
	return p.nodeHealth()
}

// ready checks whether clients can be served: the log accepts writes.
func (p *api) ready(*http.Request) (well, trouble object, err error) {
	if st := p.Broker.Stats().LogState; st.Err != nil {
		return nil, object{"reason": "the log takes nothing: " + st.Health.String()}, nil
	}
	return nil, nil, nil
}

func (p *api) belowLimit(*http.Request) (well, trouble object, err error) {
	used, most := p.o.Connections.Used(), p.o.Connections.Max()
	if most > 0 && used >= most {
		return nil, object{"reason": "node connection limit is reached", "connections": used, "limit": most}, nil
	}
	return nil, nil, nil
}
