package topology

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
)

// clusterID is the global parameter with the id of the cluster, as in RabbitMQ.
const clusterID = "internal_cluster_id"

// Identify gives the broker a permanent id, stored with its definitions, unless it has one. Errors
// are those of Broker.SetParameter.
func Identify(b *broker.Broker) error {
	if _, ok := b.Parameter("", global, clusterID); ok {
		return nil
	}
	var id [16]byte
	rand.Read(id[:]) //nolint:errcheck // never fails
	value, err := json.Marshal("rabbitmq-cluster-id-" + base64.RawURLEncoding.EncodeToString(id[:]))
	if err != nil {
		return err
	}
	return b.SetParameter(catalog.Parameter{Component: global, Name: clusterID, Value: value})
}

// ClusterID returns the id set by Identify, or "" before.
func ClusterID(b *broker.Broker) (id string) {
	if p, ok := b.Parameter("", global, clusterID); ok && json.Unmarshal(p.Value, &id) != nil {
		return "" // its value is not a string
	}
	return id
}
