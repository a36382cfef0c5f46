package overview

import (
	"net/http"
	"strconv"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// member shows a node: this node with current values, others as of their last report. For nodes
// that are down it shows only what RabbitMQ shows.
func (p *api) member(r *http.Request, m *protocol.Member) object {
	var out object
	switch {
	case m.Name() == p.o.Name && m.Up: // one that is down may have had the name of this one
		out = p.node(r)
	case m.Up && m.About != nil:
		out = p.other(m.About)
	default:
		out = object{"cluster_links": []string{}}
	}
	out["name"], out["type"], out["running"] = m.Name(), "disc", m.Up
	if p.o.Membership != nil {
		out["cluster_member"] = p.membership(r, m)
	}
	return out
}

// other shows another node that is up.
func (p *api) other(a *protocol.About) object {
	return object{
		"being_drained": false, "partitions": []string{}, "cluster_links": []string{},
		"os_pid": strconv.Itoa(a.PID), "uptime": time.Since(a.Started).Milliseconds(), "processors": a.Processors, "rates_mode": "basic",
		"fd_used": a.Process.Files, "fd_total": a.Process.MostFiles, "proc_used": a.Process.Goroutines,
		"mem_used": a.Process.Memory, "mem_limit": a.MemoryLimit, "mem_alarm": false, "mem_calculation_strategy": "rss",
		"disk_free": a.DiskFree, "disk_free_limit": a.DiskFreeLimit, "disk_free_alarm": a.LowOnDisk(),
		"applications": p.applications(a.Version),
	}
}

// membership is a node as a member of a cluster.
type membership struct {
	Node    uint64  `json:"node"` // its number
	Role    string  `json:"role"` // leader, follower, or learner
	Address string  `json:"address"`
	Term    uint64  `json:"term"`
	Lag     *uint64 `json:"lag"`           // entries missing from its log; null: unknown
	RTT     float64 `json:"rtt_ms"`        // to the leader; 0: unknown
	Skew    float64 `json:"clock_skew_ms"` // positive when its clock is ahead of the leader's
	Version *string `json:"version"`
	Here    bool    `json:"here"` // the client is connected to this node
}

func (p *api) membership(r *http.Request, m *protocol.Member) membership {
	s := p.o.Membership.Status()
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	out := membership{
		Node: m.Node, Role: m.Role, Address: m.Address, Term: s.Term, RTT: ms(m.RTT), Skew: ms(m.Skew), Here: m.Node == reached(r, &s),
	}
	if lag, known := s.Lag(m); known {
		out.Lag = &lag
	}
	if m.About != nil {
		out.Version = &m.About.Version
	}
	return out
}

// reached returns the node to which the client is connected.
func reached(r *http.Request, s *protocol.ClusterStatus) uint64 {
	if c := rest.CallerOf(r.Context()).Client; c != nil && c.Node != 0 {
		return c.Node
	}
	return s.Node
}

func (p *api) memberMemory(_ *http.Request, m *protocol.Member) any {
	switch {
	case m.Name() == p.o.Name && m.Up: // one that is down may have had the name of this one
		return p.memory()
	case m.Up && m.About != nil:
		return object{"memory": object{"strategy": "rss", "total": object{"rss": m.About.Process.Memory}}}
	}
	return object{"memory": "not_available"}
}

// alone is the answer of the checks about stopping a node if the node is standalone.
func alone() object { return object{"reason": "single node cluster"} }

// mirrorCritical always succeeds, because no queue is mirrored.
func (p *api) mirrorCritical(*http.Request) (well, trouble object, err error) {
	if len(p.o.Members()) == 1 {
		well = alone()
	}
	return well, nil, nil
}

// atRisk is a queue in the answer of quorumCritical.
type atRisk struct {
	Name     string `json:"name"`
	Readable string `json:"readable_name"`
	Type     string `json:"type"`
	VHost    string `json:"virtual_host"`
}

// quorumCritical checks whether the node to which the client is connected can be stopped without
// losing the majority. The check may fail even without quorum queues, because everything durable
// needs a majority here.
func (p *api) quorumCritical(r *http.Request) (well, trouble object, err error) {
	if len(p.o.Members()) == 1 {
		return alone(), nil, nil
	}
	s := p.o.Membership.Status()
	if m := s.Member(reached(r, &s)); !s.Critical() || m != nil && !m.Votes() {
		return nil, nil, nil
	}
	queues := []atRisk{}
	for _, v := range p.VHosts(r) {
		err := p.inVHost(v.Name, func(s *broker.Session) error {
			found, err := inspect.QueuesByName(s, s.QueueNames())
			for i := range found {
				if q := &found[i]; rest.QueueType(q.Args) == rest.Quorum {
					queues = append(queues, atRisk{q.Name, "queue '" + q.Name + "' in vhost '" + v.Name + "'", rest.Quorum, v.Name})
				}
			}
			return err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return nil, object{"reason": "There are quorum queues that would lose their quorum if the target node is shut down", "queues": queues}, nil
}
