package selector

import (
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
)

var typical = map[string]string{
	"equal":  "region = 'EU-west'",
	"range":  "region LIKE 'EU-%' AND amount BETWEEN 100 AND 500 AND NOT test",
	"in":     "type IN ('order', 'invoice') AND (priority > 3 OR urgent = TRUE)",
	"unlike": "region LIKE '%south%' OR JMSType LIKE 'x%'",
}

// fiveHeaders returns a message with five headers, the last of which is region.
func fiveHeaders() message.Envelope {
	p := message.Properties{
		Flags: message.HasHeaders | message.HasPriority | message.HasType, Type: "order", Priority: 5,
		Headers: message.Table{
			{Name: "tenant", Value: "acme"}, {Name: "amount", Value: int32(250)}, {Name: "urgent", Value: true}, {Name: "trace", Value: "0af7651916cd43dd"},
			{Name: "region", Value: "EU-west"},
		},
	}
	return message.Envelope(append(message.AppendEnvelopeHeader(nil, "shop", "order.created", p.Append(nil)), "body"...))
}

func BenchmarkMatch(b *testing.B) {
	env := fiveHeaders()
	for name, text := range typical {
		b.Run(name, func(b *testing.B) {
			s, err := Compile(text)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Match(env)
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(typical["range"]); err != nil {
			b.Fatal(err)
		}
	}
}

func TestMatchingDoesNotAllocate(t *testing.T) {
	env := order()
	for _, list := range conditions {
		for text := range lines(list) {
			s, err := Compile(text)
			if err != nil {
				t.Fatal(err)
			}
			if n := testing.AllocsPerRun(10, func() { s.Match(env) }); n != 0 {
				t.Errorf("%s: %v allocations", text, n)
			}
		}
	}
}
