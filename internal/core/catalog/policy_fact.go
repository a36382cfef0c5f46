package catalog

import (
	"bytes"
	"encoding/json"
)

// policyMembers are the members of a policy without its methods.
type policyMembers QueuePolicy

// policyFact is a QueuePolicy in a fact. Members whose bytes clients choose are names; they shadow
// those of policyMembers.
type policyFact struct {
	policyMembers
	DeadLetterExchange name
	DeadLetterKey      name
	GroupHeader        name
	DedupHeader        name
}

// newPolicyFact copies those members from the policy.
func newPolicyFact(p QueuePolicy) policyFact {
	return policyFact{
		policyMembers: policyMembers(p), DeadLetterExchange: name(p.DeadLetterExchange), DeadLetterKey: name(p.DeadLetterKey),
		GroupHeader: name(p.GroupHeader), DedupHeader: name(p.DedupHeader),
	}
}

// defaultPolicyFact is the encoding of a policy without settings, which is that of most queues.
var defaultPolicyFact = func() []byte {
	b, err := json.Marshal(newPolicyFact(DefaultQueuePolicy()))
	if err != nil {
		panic(err) // it has only numbers, booleans and texts
	}
	return b
}()

// MarshalJSON encodes the policy for a fact.
func (p QueuePolicy) MarshalJSON() ([]byte, error) {
	if p == DefaultQueuePolicy() {
		return defaultPolicyFact, nil
	}
	return json.Marshal(newPolicyFact(p))
}

// UnmarshalJSON starts from the defaults, so that facts written before a field existed keep their
// meaning.
func (p *QueuePolicy) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, defaultPolicyFact) {
		*p = DefaultQueuePolicy()
		return nil
	}
	f := newPolicyFact(DefaultQueuePolicy())
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	*p = QueuePolicy(f.policyMembers)
	p.DeadLetterExchange, p.DeadLetterKey = string(f.DeadLetterExchange), string(f.DeadLetterKey)
	p.GroupHeader, p.DedupHeader = string(f.GroupHeader), string(f.DedupHeader)
	return nil
}
