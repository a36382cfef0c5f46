package catalog

import "encoding/json"

// policyMembers are the members of a policy without its methods.
type policyMembers QueuePolicy

// policyFact is a QueuePolicy in a fact: members that clients choose byte by byte are names. They
// hide those of policyMembers.
type policyFact struct {
	policyMembers
	DeadLetterExchange name
	DeadLetterKey      name
	GroupHeader        name
	DedupHeader        name
}

// newPolicyFact copies the names beside the policy.
func newPolicyFact(p QueuePolicy) policyFact {
	return policyFact{
		policyMembers: policyMembers(p), DeadLetterExchange: name(p.DeadLetterExchange), DeadLetterKey: name(p.DeadLetterKey),
		GroupHeader: name(p.GroupHeader), DedupHeader: name(p.DedupHeader),
	}
}

// MarshalJSON writes the policy of a fact.
func (p QueuePolicy) MarshalJSON() ([]byte, error) { return json.Marshal(newPolicyFact(p)) }

// UnmarshalJSON begins with the defaults, so that facts written before a field
// existed mean what they meant.
func (p *QueuePolicy) UnmarshalJSON(b []byte) error {
	f := newPolicyFact(DefaultQueuePolicy())
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	*p = QueuePolicy(f.policyMembers)
	p.DeadLetterExchange, p.DeadLetterKey = string(f.DeadLetterExchange), string(f.DeadLetterKey)
	p.GroupHeader, p.DedupHeader = string(f.GroupHeader), string(f.DedupHeader)
	return nil
}
