package semkeys

import (
	"encoding/json"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/semaphores/semjson"
)

// version is the version of every existing key: semaphores do not count changes.
const version = 1

// semaphoreKV returns the key-value pair of a semaphore.
func semaphoreKV(key []byte, info *semaphores.Info) *mvccpb.KeyValue {
	created := info.Created * 1000
	return &mvccpb.KeyValue{
		Key: key, Value: encode(semjson.OfInfo(virtual.VHost, info)), CreateRevision: created, ModRevision: created, Version: version,
	}
}

// taskKV returns the key-value pair of an existing task. Its revision is its enqueue time, since
// the time of the last change is not kept.
func taskKV(key []byte, st *semaphores.State) *mvccpb.KeyValue {
	return &mvccpb.KeyValue{
		Key: key, Value: taskValue(st), CreateRevision: st.Enqueued, ModRevision: st.Enqueued, Version: version, Lease: st.Owner,
	}
}

func taskValue(st *semaphores.State) []byte { return encode(semjson.OfState(st.ID, st)) }

// alone returns the state of a task without its position in the queue.
func alone(t semaphore.Task) *semaphores.State { return &semaphores.State{Task: t, Found: true} }

// encode encodes a value as JSON. It is called only with values that can be encoded.
func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("semkeys: " + err.Error())
	}
	return text
}
