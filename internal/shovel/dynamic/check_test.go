package dynamic

import (
	"encoding/json"
	"strings"
	"testing"
)

// The texts are RabbitMQ 3.10.8's, with three exceptions: values that crash it (5, src-protocol),
// an empty list of brokers, which it accepts, and the inner words about a port.
func TestCheck(t *testing.T) {
	by := Access{User: "guest", May: func(vhost string) bool { return vhost == "/" }}
	for _, tc := range []struct{ value, want string }{
		{`5`, "s should be an object"},
		{`null`, "s should be an object"},
		{`{}`, "Must specify 'src-exchange' or 'src-queue'|Key \"dest-uri\" not found in s|Key \"src-uri\" not found in s"},
		{`[]`, "Must specify 'src-exchange' or 'src-queue'|Key \"dest-uri\" not found in s|Key \"src-uri\" not found in s"},
		{`{"src-uri":"amqp://","src-queue":"a","src-exchange":"b","dest-uri":"amqp://","dest-queue":"x","dest-exchange":"y"}`,
			"Cannot specify 'src-exchange' and 'src-queue'|Cannot specify 'dest-exchange' and 'dest-queue'"},
		{`{"src-uri":"amqp://","src-queue":"a","dest-uri":"amqp://","wrong":1,"zzz":2}`, `Unrecognised terms [{<<"wrong">>,1},{<<"zzz">>,2}] in s`},
		{`{"src-uri":"http://x","src-queue":"a","dest-uri":["amqp://","foo"]}`,
			`"foo" not a valid URI: {{unable_to_parse_uri,no_scheme},"foo"}|"http://x" not a valid URI: {{unexpected_uri_scheme,"http"},"http://x"}`},
		{`{"src-uri":"amqp://u:secret@h:port","src-queue":"a","dest-uri":"amqp://"}`,
			`"amqp://***@h:port" not a valid URI: {{unable_to_parse_uri,malformed_uri},"amqp://***@h:port"}`},
		{`{"src-uri":5,"src-queue":"a","dest-uri":[]}`, "dest-uri should name a broker, actually was []|src-uri should be list, actually was 5"},
		{`{"src-uri":"amqp:///none","src-queue":"a","dest-uri":"amqp:///%2F"}`, `user "guest" may not connect to vhost "none"`},
		{`{"src-uri":"amqp://h/none","src-queue":"a","dest-uri":"amqp://"}`, ""},
		{`{"src-uri":"amqp://","src-queue":5,"dest-uri":"amqp://","dest-queue":6,"ack-mode":"x","prefetch-count":"a","reconnect-delay":"b","delete-after":"x","src-delete-after":-1}`,
			`dest-queue should be binary, actually was 6|` +
				`src-delete-after should be a number greater than or equal to 0, "never" or "queue-length", actually was -1|` +
				`delete-after should be a number greater than or equal to 0, "never" or "queue-length", actually was <<"x">>|` +
				`prefetch-count should be a number, actually was <<"a">>|src-queue should be binary, actually was 5|` +
				`ack-mode should be one of [<<"no-ack">>,<<"on-publish">>,<<"on-confirm">>], actually was <<"x">>|` +
				`reconnect-delay should be a number, actually was <<"b">>`},
		{`{"src-uri":"amqp://","src-queue":"a","dest-uri":"amqp://","ack-mode":"no-ack","delete-after":5}`, "Cannot specify 'no-ack' and numerical 'delete-after'"},
		{`{"src-uri":"amqp://","src-queue":"a","dest-uri":"amqp://","ack-mode":"no-ack","delete-after":5,"src-delete-after":"never"}`, ""},
		{`{"src-uri":"amqp://","src-queue":"a","dest-uri":"amqp://","add-forward-headers":"x","publish-properties":{"foo":1,"delivery_mode":"2"},"src-queue-args":{"x-max-length":5,"foo":1},"src-consumer-args":{"x-priority":5,"u":1}}`,
			`Unrecognised terms [{<<"foo">>,1}] in publish-properties|delivery_mode should be a number, actually was <<"2">>|` +
				`add-forward-headers should be boolean, actually was <<"x">>|Unrecognised terms [{<<"u">>,1}] in src-consumer-args|` +
				`Unrecognised terms [{<<"foo">>,1}] in src-queue-args`},
		{`{"src-uri":"amqp://","src-queue":"a","dest-uri":"amqp://","publish-properties":5}`, "publish-properties not a list 5"},
		{`{"src-uri":"amqp://","src-queue":"a","dest-uri":"amqp://","src-protocol":"mqtt"}`,
			`src-protocol should be one of [<<"amqp10">>,<<"amqp091">>], actually was <<"mqtt">>`},
		{`{"src-uri":"amqp://","src-protocol":"amqp10","dest-uri":"amqp://"}`, `Key "src-address" not found in s`},
		{`{"src-uri":"amqp://","src-protocol":"amqp10","src-address":"a","dest-protocol":"amqp10","dest-address":"b","dest-uri":"amqp://","dest-properties":{"a":1}}`,
			`a should be binary, actually was 1`},
		{`{"src-uri":"amqp://","src-queue":"a","dest-uri":"amqp://","prefetch-count":1.5,"reconnect-delay":-1,"src-delete-after":"never"}`, ""},
		{`{"src-uri":"amqp://","src-exchange":"e","dest-uri":["amqp://","amqps://u:p@h/v"],"dest-exchange":"","dest-exchange-key":"k"}`, ""},
	} {
		if got := strings.Join(Check("s", json.RawMessage(tc.value), by), "|"); got != tc.want {
			t.Errorf("%s\n%s\nwant %s", tc.value, got, tc.want)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(`{"src-uri":"amqp://","src-queue":"a","dest-uri":"amqp://u:p@h/v","src-delete-after":5,"publish-properties":{"priority":1}}`)
	f.Add(`{"src-uri":["amqp://"],"src-exchange":"a","dest-uri":"amqp://","dest-exchange":"","src-queue-args":{"x-max-length":5}}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		value := json.RawMessage(text)
		if len(Check("s", value, Access{})) > 0 {
			return
		}
		s, err := parse(value)
		if err != nil { // amqp10
			return
		}
		if o := s.options(identity{"/", "s"}); o.Source.URI == "" || o.Target.URI == "" {
			t.Errorf("%s: %+v", text, o)
		}
	})
}
