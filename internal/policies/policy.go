package policies

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"fiveways.dev/fiveways/internal/core/pattern"
)

// Components of the parameters that are policies, as named by RabbitMQ.
const (
	Component         = "policy"
	OperatorComponent = "operator_policy"
)

// Value is the parameter value of a policy.
type Value struct {
	Pattern    string          `json:"pattern"`
	Definition json.RawMessage `json:"definition"`
	Priority   json.RawMessage `json:"priority"`
	ApplyTo    string          `json:"apply-to"`
}

// policy is a parsed policy.
type policy struct {
	name       string
	pattern    *pattern.Pattern
	to         target
	priority   float64 // RabbitMQ accepts any number
	definition map[string]any
	hinders    target // targets to which its settings do not apply
}

// target is a set of things to which a policy applies.
type target uint8

const (
	classicQueues target = 1 << iota
	quorumQueues
	exchanges
	streams
	queues = classicQueues | quorumQueues | streams
	all    = queues | exchanges
)

// targets maps the values of apply-to. Those for types of queues were added in RabbitMQ 3.12.
var targets = map[string]target{
	"all": all, "queues": queues, "exchanges": exchanges, "classic_queues": classicQueues, "quorum_queues": quorumQueues, "streams": streams,
}

// Check validates the value of a policy, or of an operator policy. It returns one text per error,
// worded like RabbitMQ.
func Check(name string, operator bool, value json.RawMessage) (wrong []string) {
	_, wrong = parse(name, operator, value)
	return wrong
}

// parse parses a policy. wrong lists its errors, in RabbitMQ's order.
func parse(name string, operator bool, value json.RawMessage) (p *policy, wrong []string) {
	decoded, err := decode(value)
	fields, ok := decoded.(map[string]any)
	if err != nil || !ok {
		return nil, []string{name + " should be an object"}
	}
	p = &policy{name: name, to: all}
	complain := func(text string) {
		if text != "" {
			wrong = append(wrong, text)
		}
	}
	for _, f := range []struct {
		key      string
		optional bool
		read     func(v any) string
	}{
		{"definition", false, func(v any) string { return p.readDefinition(operator, v) }},
		{"apply-to", true, p.readTarget},
		{"pattern", false, p.readPattern},
		{"priority", false, p.readPriority},
	} {
		switch v, there := fields[f.key]; {
		case there:
			complain(f.read(v))
		case !f.optional:
			complain(fmt.Sprintf("Key %q not found in %s", f.key, name))
		}
	}
	return p, wrong
}

func (p *policy) readTarget(v any) string {
	word, ok := v.(string)
	if !ok {
		word = term(v)
	}
	if p.to, ok = targets[word]; !ok {
		return fmt.Sprintf("apply-to '%s' unrecognised; should be 'queues', 'exchanges' or 'all'", word)
	}
	return ""
}

func (p *policy) readPattern(v any) string {
	text, ok := v.(string)
	if !ok {
		return "pattern should be a binary but was " + term(v)
	}
	compiled, err := pattern.Compile(text)
	if err != nil {
		return "pattern should be regular expression but is invalid: " + err.Error()
	}
	p.pattern = compiled
	return ""
}

func (p *policy) readPriority(v any) (refusal string) {
	n, ok := v.(json.Number)
	priority, err := n.Float64()
	if !ok || err != nil {
		return "priority should be a number, actually was " + term(v)
	}
	p.priority = priority
	return ""
}

// readDefinition checks the settings group by group, as RabbitMQ does, and returns the first error.
func (p *policy) readDefinition(operator bool, v any) string {
	settings, ok := v.(map[string]any)
	if !ok {
		return "definition must be a dictionary: " + term(v)
	}
	if len(settings) == 0 {
		return "no policy provided"
	}
	p.definition = settings
	names := slices.Sorted(maps.Keys(settings))
	var unknown []string
	var grouped [numGroups][]string
	for _, name := range names {
		if k := keys[name]; k == nil || operator && k.merge == nil {
			unknown = append(unknown, name)
		} else {
			grouped[k.group] = append(grouped[k.group], name)
			p.hinders |= k.hinders
		}
	}
	for g, names := range grouped {
		if refusal := checkGroup(group(g), names, settings); refusal != "" {
			return refusal
		}
	}
	if len(unknown) > 0 {
		return terms(unknown, settings) + " are not recognised policy settings"
	}
	return ""
}

// checkGroup checks each setting of a group, and their combination.
func checkGroup(g group, names []string, settings map[string]any) string {
	for _, name := range names {
		if k := keys[name]; k.valid != nil && !k.valid(settings[name]) {
			return term(settings[name]) + " " + k.refusal
		}
	}
	if together := together[g]; together != nil && len(names) > 0 {
		return together(names, settings)
	}
	return ""
}
