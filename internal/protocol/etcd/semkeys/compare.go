package semkeys

import (
	"encoding/json"
	"reflect"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/semaphores/semjson"
)

// The fields of the two kinds of values.
var (
	semaphoreFields = fieldsOf(encode(semjson.Semaphore{}))
	taskFields      = fieldsOf(encode(semjson.OfState("", &semaphores.State{Found: true})))
)

// fieldsOf returns the fields of a JSON object, or nil if the text is not an object.
func fieldsOf(text []byte) (fields map[string]any) {
	if json.Unmarshal(text, &fields) != nil {
		return nil
	}
	return fields
}

// CheckCompare implements virtual.Family. Semaphores do not record how often and when a key
// changed, so that cannot be compared. Values are JSON with the position of a task, so they are not
// compared as a whole.
func (n *Namespace) CheckCompare(who Caller, c *pb.Compare) error {
	p, ok := parse(c.Key)
	switch {
	case len(c.RangeEnd) > 0:
		return errCompare
	case !ok:
		return errKey
	case !canCompare(&p, c):
		return errCompare
	}
	return may(who, toRead, p.semaphore)
}

func canCompare(p *path, c *pb.Compare) bool {
	switch c.Target {
	case pb.Compare_VERSION, pb.Compare_LEASE:
		return true
	case pb.Compare_CREATE:
		return c.GetCreateRevision() == 0
	case pb.Compare_MOD:
		return c.GetModRevision() == 0
	case pb.Compare_VALUE:
		return (c.Result == pb.Compare_EQUAL || c.Result == pb.Compare_NOT_EQUAL) && comparableFields(p, c.GetValue())
	}
	return false
}

// comparableFields reports whether a text is an object with only fields of the key's value, and at
// least one.
func comparableFields(p *path, text []byte) bool {
	known := taskFields
	if p.task == "" {
		known = semaphoreFields
	}
	fields := fieldsOf(text)
	for name := range fields {
		if _, ok := known[name]; !ok {
			return false
		}
	}
	return len(fields) > 0
}

// Compare implements virtual.Part.
func (t *part) Compare(c *pb.Compare) (bool, error) {
	p, _ := parse(c.Key)
	kv, err := t.n.getOf(c.Key, &p)
	if err != nil {
		return false, err
	}
	seen := holdsFor(c, kv)
	t.expect = append(t.expect, &semaphores.Expect{
		Of: semaphores.Of{Key: p.semaphore}, Task: p.task,
		Holds: func(info semaphores.Info, there bool, st semaphores.State) bool {
			return seen == holdsFor(c, kvOf(c.Key, &p, &info, there, &st))
		},
	})
	return seen, nil
}

// kvOf returns the key-value pair for the state that the manager reports, or nil if the key does
// not exist.
func kvOf(key []byte, p *path, info *semaphores.Info, there bool, st *semaphores.State) *mvccpb.KeyValue {
	switch {
	case p.task == "" && there:
		return semaphoreKV(key, info)
	case p.task != "" && st.Found:
		st.ID = p.task
		return taskKV(key, st)
	}
	return nil
}

// holdsFor reports whether a comparison holds for a key-value pair; nil means that the key does not
// exist.
func holdsFor(c *pb.Compare, kv *mvccpb.KeyValue) bool {
	switch {
	case kv == nil:
		return virtual.HoldsFor(c, nil)
	case c.Target != pb.Compare_VALUE:
		return virtual.HoldsFor(c, []*mvccpb.KeyValue{kv})
	}
	equal, have := true, fieldsOf(kv.Value)
	for name, want := range fieldsOf(c.GetValue()) {
		equal = equal && reflect.DeepEqual(have[name], want)
	}
	return equal == (c.Result == pb.Compare_EQUAL)
}
