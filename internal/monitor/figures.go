package monitor

import (
	"encoding/json"
	"math"
	"net/url"
	"strconv"
	"time"
)

// Span selects the history of a value: samples as far back as Age, Every apart. The zero Span
// selects none.
type Span struct{ Age, Every time.Duration }

// Query selects the histories that a request asks for.
type Query struct {
	Lengths  Span // numbers of messages
	Messages Span // rates of messages
	Data     Span // bytes of connections
	Node     Span // values of the node
}

// ParseQuery reads RabbitMQ's parameters: lengths_age and lengths_incr, in seconds, and so on.
// Invalid parameters select nothing.
func ParseQuery(q url.Values) Query {
	span := func(name string) (s Span) {
		age, _ := strconv.Atoi(q.Get(name + "_age"))
		every, _ := strconv.Atoi(q.Get(name + "_incr"))
		if age <= 0 || every <= 0 || age/every > maxPoints {
			return Span{}
		}
		return Span{time.Duration(age) * time.Second, time.Duration(every) * time.Second}
	}
	return Query{Lengths: span("lengths"), Messages: span("msg_rates"), Data: span("data_rates"), Node: span("node_stats")}
}

// maxPoints limits how many samples of one value a request may ask for.
const maxPoints = 10_000

// Details describe how a value has changed.
type Details struct {
	Rate    float64  `json:"rate"` // per second, between the last two samples
	Samples []Point  `json:"samples,omitempty"`
	AvgRate *float64 `json:"avg_rate,omitempty"` // per second, over Samples
	Avg     *float64 `json:"avg,omitempty"`      // of Samples
}

// Point is a value at a time.
type Point struct {
	Sample    int64 `json:"sample"`
	Timestamp int64 `json:"timestamp"` // unix ms
}

// Figure is a named value and how it has changed.
type Figure struct {
	Name    string
	Value   int64
	Details Details
}

// Figures are values of one object. In JSON each is a field, with its details in a field beside it:
// {"publish": 3, "publish_details": {"rate": 0.2}}.
type Figures []Figure

// JSONSchema returns the schema of figures in JSON.
func (Figures) JSONSchema() map[string]any { return map[string]any{"type": "object"} }

// MarshalJSON implements json.Marshaler.
func (f Figures) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i := range f {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, f[i].Name), ':')
		b = strconv.AppendInt(b, f[i].Value, 10)
		b = append(strconv.AppendQuote(append(b, ','), f[i].Name+"_details"), ':')
		details, err := json.Marshal(&f[i].Details)
		if err != nil {
			return nil, err
		}
		b = append(b, details...)
	}
	return append(b, '}'), nil
}

// AddTo adds the figures to an object, as the fields of their JSON form.
func (f Figures) AddTo(object map[string]any) {
	for i := range f {
		object[f[i].Name] = f[i].Value
		object[f[i].Name+"_details"] = f[i].Details
	}
}

// Get returns the value of that name, or 0 if there is none.
func (f Figures) Get(name string) int64 {
	for i := range f {
		if f[i].Name == name {
			return f[i].Value
		}
	}
	return 0
}

// rounded rounds a rate to three decimals, as RabbitMQ does.
func rounded(rate float64) float64 { return math.Round(rate*1000) / 1000 }
