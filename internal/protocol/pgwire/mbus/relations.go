package mbus

import (
	"iter"

	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// list is a read-only view for users.
type list struct {
	name    string
	columns []value.Field
	rows    func(s *Session) ([][]value.Datum, error)
}

var listed = []*list{
	{"consumer", []value.Field{
		{Name: "name", Type: value.Text}, {Name: "qname", Type: value.Text}, {Name: "selector", Type: value.Text}, {Name: "ready", Type: value.Int8},
		{Name: "held", Type: value.Int8}, {Name: "delayed", Type: value.Int8}, {Name: "blocked", Type: value.Int8},
	}, (*Session).consumerRows},
	{"queue", []value.Field{
		{Name: "qname", Type: value.Text}, {Name: "consumers_cnt", Type: value.Int4}, {Name: "is_roles_security_model", Type: value.Bool},
		{Name: "consumers", Type: value.Int4}, {Name: "ready", Type: value.Int8}, {Name: "held", Type: value.Int8},
		{Name: "delayed", Type: value.Int8}, {Name: "blocked", Type: value.Int8}, {Name: "bytes", Type: value.Int8},
	}, (*Session).queueRows},
	{"trigger", []value.Field{
		{Name: "src", Type: value.Text}, {Name: "dst", Type: value.Text}, {Name: "selector", Type: value.Text},
	}, (*Session).triggerRows},
}

// in returns the view in a schema.
func (l *list) in(schema string) schema.Relation { return &listIn{l, nameOID(schema + "." + l.name)} }

type listIn struct {
	list *list
	oid  uint32
}

func (l *listIn) OID() uint32            { return l.oid }
func (l *listIn) Name() string           { return l.list.name }
func (l *listIn) Kind() byte             { return 'v' }
func (l *listIn) Columns() []value.Field { return l.list.columns }

func (l *listIn) Scan(env *expr.Env, _ []bool) iter.Seq2[[]value.Datum, error] {
	return func(yield func([]value.Datum, error) bool) {
		all, err := l.list.rows(of(env))
		if err != nil {
			yield(nil, err)
			return
		}
		for _, row := range all {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// states returns the engine queues by name.
func (s *Session) states() (map[string]inspect.QueueStatus, error) {
	all, err := inspect.Queues(s.own)
	if err != nil {
		return nil, s.failed(err)
	}
	byName := make(map[string]inspect.QueueStatus, len(all))
	for _, q := range all {
		byName[q.Name] = q
	}
	return byName, nil
}

func (s *Session) queueRows() (out [][]value.Datum, err error) {
	states, err := s.states()
	if err != nil {
		return nil, err
	}
	sees := s.sight()
	for _, q := range s.sqlQueues() {
		if !sees(q) {
			continue
		}
		def := s.known().queues[q]
		subscribers := s.subscribers(q)
		var ready, held, delayed, blocked, bytes int64
		for _, c := range subscribers {
			st := states[consumerQueue(q, c.name)]
			ready, held, delayed = ready+int64(st.Ready), held+int64(st.Unacked), delayed+int64(st.Scheduled)
			blocked, bytes = blocked+int64(st.Blocked), bytes+st.Bytes
		}
		out = append(out, []value.Datum{q, int64(def.Consumers), def.Roles, int64(len(subscribers)), ready, held, delayed, blocked, bytes})
	}
	return out, nil
}

func (s *Session) consumerRows() (out [][]value.Datum, err error) {
	states, err := s.states()
	if err != nil {
		return nil, err
	}
	sees := s.sight()
	for _, q := range s.sqlQueues() {
		for _, c := range s.subscribers(q) {
			if !sees(q) && !sees(consumerQueue(q, c.name)) {
				continue
			}
			st := states[consumerQueue(q, c.name)]
			out = append(out, []value.Datum{
				c.name, q, orNull(c.selector), int64(st.Ready), int64(st.Unacked), int64(st.Scheduled), int64(st.Blocked),
			})
		}
	}
	return out, nil
}

func (s *Session) triggerRows() (out [][]value.Datum, err error) {
	sees := s.sight()
	for _, t := range s.triggers() {
		if !sees(t.Src) || !sees(t.Dst) {
			continue
		}
		out = append(out, []value.Datum{t.Src, t.Dst, orNull(t.Selector)})
	}
	return out, nil
}

func orNull(text string) value.Datum {
	if text == "" {
		return nil
	}
	return text
}
