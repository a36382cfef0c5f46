package policies

import (
	"fiveways.dev/fiveways/internal/core/catalog"
)

// key is a setting of policies.
type key struct {
	group   group
	valid   func(v any) bool // nil: the group checks it
	refusal string           // error text after an invalid value
	merge   func(policy, operator any) any
	hinders target // a policy with this key does not apply to these targets, which lack the feature
	rule    ruling // nil: stored and shown, but without effect here
}

// group is a set of settings that are checked together. Groups are checked one after the other.
type group uint8

const (
	ofQueues group = iota
	ofFederation
	ofMirrors
	ofLeaders
	numGroups
)

// together checks the combination of the settings of a group.
var together = [numGroups]func(names []string, settings map[string]any) string{ofFederation: oneUpstream, ofMirrors: mirrors}

// setting returns a key that is independent of others.
func setting(valid func(any) bool, refusal string, rule ruling) *key {
	return &key{valid: valid, refusal: "is not a valid " + refusal, rule: rule}
}

// bound returns a number that operator policies may have, too: the smaller one applies.
func bound(valid func(any) bool, refusal string, rule ruling) *key {
	k := setting(valid, refusal, rule)
	k.merge = smaller
	return k
}

// not sets the targets to which policies with this key do not apply.
func (k *key) not(t target) *key {
	k.hinders = t
	return k
}

// in sets the group of the key.
func (k *key) in(g group) *key {
	k.group = g
	return k
}

// operable allows the key in operator policies, whose value then applies.
func (k *key) operable() *key {
	k.merge = func(_, operator any) any { return operator }
	return k
}

// onlyStreams excludes all queues but streams.
const onlyStreams = classicQueues | quorumQueues

// keys holds all settings: those of RabbitMQ 3.10 with their texts, those of later versions for
// their definition files, and our own.
var keys = map[string]*key{
	"message-ttl":             bound(natural, "message TTL", number(func(r *catalog.Ruling) *int64 { return &r.MessageTTL }, maxTimer)).not(streams),
	"expires":                 bound(positive, "queue expiry", number(func(r *catalog.Ruling) *int64 { return &r.Expires }, maxTimer)).not(streams),
	"max-length":              bound(natural, "maximum length", number(func(r *catalog.Ruling) *int64 { return &r.MaxLength }, maxNumber)).not(streams),
	"max-length-bytes":        bound(natural, "maximum length in bytes", number(func(r *catalog.Ruling) *int64 { return &r.MaxLengthBytes }, maxNumber)),
	"overflow":                choice("overflow value", overflows, func(r *catalog.Ruling) *catalog.Overflow { return &r.Overflow }).operable().not(streams),
	"dead-letter-exchange":    setting(name, "dead letter exchange name", deadLetterExchange).not(streams),
	"dead-letter-routing-key": setting(name, "dead letter routing key", deadLetterKey).not(streams),
	"dead-letter-strategy":    choice("dead letter strategy", strategies, func(r *catalog.Ruling) *bool { return &r.AtLeastOnce }).not(classicQueues | streams),
	"delivery-limit":          bound(natural, "delivery limit", number(func(r *catalog.Ruling) *int64 { return &r.DeliveryLimit }, maxNumber)).not(classicQueues | streams),
	"max-in-memory-length":    bound(natural, "maximum memory in bytes", nil).not(streams), // sic
	"max-in-memory-bytes":     bound(natural, "maximum memory in bytes", nil).not(streams),
	"queue-mode":              setting(word("default", "lazy"), "queue-mode value", nil).not(quorumQueues | streams),
	"queue-version":           setting(oneOrTwo, "queue-version value", nil).operable(),
	"alternate-exchange":      setting(name, "alternate exchange name", nil), // for exchanges

	"max-age":                       setting(age, "max age", maxAge).not(onlyStreams),
	"stream-max-segment-size-bytes": setting(segment, "segment size", nil).not(onlyStreams),
	"queue-leader-locator":          setting(word("client-local", "balanced"), "queue leader locator value", nil).not(classicQueues),
	"initial-cluster-size":          setting(natural, "cluster size", nil).not(onlyStreams),

	"federation-upstream":         setting(text, "federation upstream name", nil).in(ofFederation),
	"federation-upstream-set":     setting(text, "federation upstream set name", nil).in(ofFederation),
	"federation-upstream-pattern": setting(text, "federation upstream pattern name", nil).in(ofFederation),

	"ha-mode":                (&key{}).in(ofMirrors).not(quorumQueues | streams),
	"ha-params":              (&key{}).in(ofMirrors).not(quorumQueues | streams),
	"ha-sync-mode":           (&key{}).in(ofMirrors).not(quorumQueues | streams),
	"ha-sync-batch-size":     (&key{}).in(ofMirrors),
	"ha-promote-on-shutdown": (&key{}).in(ofMirrors).not(quorumQueues | streams),
	"ha-promote-on-failure":  (&key{}).in(ofMirrors).not(quorumQueues | streams),
	"queue-master-locator": {group: ofLeaders, valid: word("min-masters", "client-local", "random"),
		refusal: "invalid queue-master-locator value", hinders: quorumQueues | streams},

	"consumer-timeout":         bound(positive, "consumer timeout", number(func(r *catalog.Ruling) *int64 { return &r.ConsumerTimeout }, maxTimer)),
	"stream-filter-size-bytes": setting(natural, "filter size", nil).not(onlyStreams),
	"target-group-size":        setting(positive, "qq target count value", nil).operable().not(classicQueues),

	"sync":                   choice("sync value", syncs, func(r *catalog.Ruling) *catalog.SyncChoice { return &r.Sync }),
	"delayed-retry-type":     choice("delayed retry type", retries, func(r *catalog.Ruling) *catalog.RetryType { return &r.RetryType }),
	"delayed-retry-min":      setting(natural, "delayed retry time", exact(func(r *catalog.Ruling) *int64 { return &r.RetryMin })),
	"delayed-retry-max":      setting(natural, "delayed retry time", exact(func(r *catalog.Ruling) *int64 { return &r.RetryMax })),
	"max-publish-rate":       bound(positive, "publish rate", number(func(r *catalog.Ruling) *int64 { return &r.Messages }, maxNumber)),
	"max-publish-bytes-rate": bound(positive, "publish rate in bytes", number(func(r *catalog.Ruling) *int64 { return &r.Bytes }, maxNumber)),
}

// Values of settings with a choice, by RabbitMQ's names.
var (
	overflows = map[string]catalog.Overflow{
		"drop-head": catalog.DropHead, "reject-publish": catalog.RejectPublish, "reject-publish-dlx": catalog.RejectPublishDLX,
	}
	strategies = map[string]bool{"at-most-once": false, "at-least-once": true}
	syncs      = map[string]catalog.SyncChoice{"always": catalog.SyncAlways, "batch": catalog.SyncBatch, "os": catalog.SyncOS}
	retries    = map[string]catalog.RetryType{
		"disabled": catalog.RetryDisabled, "all": catalog.RetryAll, "failed": catalog.RetryFailed, "returned": catalog.RetryReturned,
	}
)

// choice returns a setting with a fixed set of words.
func choice[T any](refusal string, values map[string]T, field func(*catalog.Ruling) *T) *key {
	valid := func(v any) bool {
		word, ok := v.(string)
		_, known := values[word]
		return ok && known
	}
	return setting(valid, refusal, func(r *catalog.Ruling, v any, declared bool) {
		if !declared {
			*field(r) = values[v.(string)]
		}
	})
}
