package topology

import (
	"encoding/json"
	"net/http"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// queueName holds the name of a queue and the properties it was declared with. Fields are
// RabbitMQ's, in alphabetical order.
type queueName struct {
	Arguments  rest.Table `json:"arguments"`
	AutoDelete bool       `json:"auto_delete"`
	Durable    bool       `json:"durable"`
	Exclusive  bool       `json:"exclusive"`
	Name       string     `json:"name"`
	Node       string     `json:"node"`
	Type       string     `json:"type"`
	VHost      string     `json:"vhost"`
}

// queueTotals is a queue with numbers of messages but without statistics.
type queueTotals struct {
	queueName
	Messages int    `json:"messages"`
	Ready    int    `json:"messages_ready"`
	Unacked  int    `json:"messages_unacknowledged"`
	State    string `json:"state"`
}

// queueState is a queue with its current state.
type queueState struct {
	queueName
	Capacity      float64         `json:"consumer_capacity"`    // share of the time in which consumers could take more
	Utilisation   float64         `json:"consumer_utilisation"` // the same, by its older name
	Consumers     int             `json:"consumers"`
	Effective     json.RawMessage `json:"effective_policy_definition"`
	ExclusiveTag  *string         `json:"exclusive_consumer_tag"`
	HeadTimestamp *int64          `json:"head_message_timestamp"`
	IdleSince     string          `json:"idle_since"`
	Memory        int64           `json:"memory"`
	Bytes         int64           `json:"message_bytes"`
	BytesReady    int64           `json:"message_bytes_ready"`
	BytesUnacked  int64           `json:"message_bytes_unacknowledged"`
	monitor.Lengths
	Scheduled      int               `json:"messages_scheduled"` // ours: not due yet
	Blocked        int               `json:"messages_blocked"`   // ours: blocked by other messages
	Stats          monitor.Figures   `json:"message_stats,omitempty"`
	OperatorPolicy *string           `json:"operator_policy"`
	Owner          map[string]string `json:"owner_pid_details,omitempty"`
	Policy         *string           `json:"policy"`
	Leader         string            `json:"leader,omitempty"` // of quorum queues and streams
	Members        []string          `json:"members,omitempty"`
	Online         []string          `json:"online,omitempty"`
	ActiveTag      *string           `json:"single_active_consumer_tag"`
	State          string            `json:"state"`
	Activity       string            `json:"activity"` // ours: growing, running, or idle for a minute
}

// queueDetails is a queue with its consumers.
type queueDetails struct {
	queueState
	ConsumerDetails []rest.Consumer `json:"consumer_details"`
	Deliveries      []any           `json:"deliveries"`
	Incoming        []any           `json:"incoming"`
}

// extent is how much a request asks for of each listed queue.
type extent struct {
	stats, totals   bool // without stats, totals may be asked for
	histories       monitor.Query
	members, online []string // nodes that have the queues, and which of them are up
}

func (t *topology) extentOf(r *http.Request) *extent {
	q := r.URL.Query()
	e := &extent{stats: q.Get("disable_stats") != "true", totals: q.Get("enable_queue_totals") == "true", histories: monitor.ParseQuery(q)}
	for _, m := range t.node.Members() {
		e.members = append(e.members, m.Name())
		if m.Up {
			e.online = append(e.online, m.Name())
		}
	}
	return e
}

// queueObject returns the form of a queue in a list.
func (t *topology) queueObject(st *inspect.QueueStatus, vhost string, e *extent) any {
	if e.stats {
		return t.queueState(st, vhost, e)
	}
	if !e.totals {
		return t.queueName(st, vhost)
	}
	return &queueTotals{t.queueName(st, vhost), st.Ready + st.Unacked, st.Ready, st.Unacked, stateOf(st)}
}

func (t *topology) queueName(st *inspect.QueueStatus, vhost string) queueName {
	return queueName{rest.Table(st.Args), st.AutoDelete, st.Declared, st.Exclusive, st.Name, t.node.Name, rest.QueueType(st.Args), vhost}
}

// stateOf returns the state of a queue. That it is idle is shown by idle_since.
func stateOf(*inspect.QueueStatus) string { return "running" }

// activityOf returns whether a queue is growing, in use, or has been idle for a minute.
func (t *topology) activityOf(st *inspect.QueueStatus) string {
	switch {
	case t.monitor.QueueTrend(st.ID).Growth > 0:
		return "growing"
	case time.Since(time.UnixMilli(st.Active)) > time.Minute:
		return "idle"
	}
	return "running"
}

func (t *topology) queueState(st *inspect.QueueStatus, vhost string, e *extent) *queueState {
	o := &queueState{
		queueName: t.queueName(st, vhost), Consumers: st.Consumers, Effective: effective(st.Definition), Memory: st.Memory,
		Bytes: st.Bytes + st.UnackedBytes, BytesReady: st.Bytes, BytesUnacked: st.UnackedBytes,
		Lengths: t.monitor.QueueLengths(st, e.histories), Stats: t.monitor.QueueStats(st, e.histories), Scheduled: st.Scheduled, Blocked: st.Blocked, State: stateOf(st), Activity: t.activityOf(st),
	}
	if st.Consumers > 0 && st.Ready == 0 {
		o.Capacity, o.Utilisation = 1, 1 // every message is delivered at once
	}
	o.Policy, o.OperatorPolicy = named(st.Policy), named(st.OperatorPolicy)
	if st.ActiveConsumer != "" {
		o.ActiveTag = &st.ActiveConsumer
	}
	if st.HeadTimestamp != 0 {
		o.HeadTimestamp = &st.HeadTimestamp
	}
	o.IdleSince = time.UnixMilli(st.Active).UTC().Format("2006-01-02T15:04:05.000+00:00")
	if st.Exclusive {
		o.Owner = map[string]string{"name": st.Owner}
	}
	if o.Type == rest.Quorum || o.Type == rest.Stream {
		o.Leader, o.Members, o.Online = t.node.Name, e.members, e.online
	}
	return o
}

// effective returns the combined definition of policies, or an empty object if there is none.
func effective(definition string) json.RawMessage {
	if definition == "" {
		return json.RawMessage("{}")
	}
	return json.RawMessage(definition)
}

// named returns nil if there is no policy.
func named(policy string) *string {
	if policy == "" {
		return nil
	}
	return &policy
}

// queueDetails shows one queue.
func (t *topology) queueDetails(s *broker.Session, st *inspect.QueueStatus, r *http.Request) any {
	o := &queueDetails{queueState: *t.queueState(st, s.VHost(), t.extentOf(r)), ConsumerDetails: []rest.Consumer{}, Deliveries: []any{}, Incoming: []any{}}
	found, err := inspect.QueueConsumers(s, st.Name)
	if err != nil {
		return o // the queue was deleted meanwhile, and its consumers with it
	}
	o.ConsumerDetails = rest.Consumers(found, t.clients, t.node.Name)
	if st.ExclusiveConsumer && len(found) > 0 {
		o.ExclusiveTag = &found[0].Tag
	}
	return o
}
