package dynamic

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Access is the user who sets a shovel, and the virtual hosts of this broker to which it may
// connect.
type Access struct {
	User string
	May  func(vhost string) bool // nil: to all
}

// Check returns what is wrong with the value of a shovel, in RabbitMQ's words and order. It returns
// nil if the value is valid.
func Check(name string, value json.RawMessage, by Access) (wrong []string) {
	var v map[string]any
	if err := json.Unmarshal(value, &v); err != nil || v == nil {
		if text := strings.TrimSpace(string(value)); text != "[]" { // in Erlang an empty list is an object too
			return []string{name + " should be an object"}
		}
	}
	wrong = append(checkSource(v), checkTarget(v)...)
	return append(wrong, checkAll(name, v, checks(v, by))...)
}

func checkSource(v map[string]any) (wrong []string) {
	if v["src-protocol"] == amqp10 {
		return nil
	}
	switch queue, exchange := v["src-queue"] != nil, v["src-exchange"] != nil; {
	case queue && exchange:
		wrong = append(wrong, "Cannot specify 'src-exchange' and 'src-queue'")
	case !queue && !exchange:
		wrong = append(wrong, "Must specify 'src-exchange' or 'src-queue'")
	}
	after := v["src-delete-after"]
	if after == nil {
		after = v["delete-after"]
	}
	if _, number := after.(float64); number && v["ack-mode"] == noAck {
		wrong = append(wrong, "Cannot specify 'no-ack' and numerical 'delete-after'")
	}
	return wrong
}

func checkTarget(v map[string]any) []string {
	if v["dest-protocol"] != amqp10 && v["dest-queue"] != nil && v["dest-exchange"] != nil {
		return []string{"Cannot specify 'dest-exchange' and 'dest-queue'"}
	}
	return nil
}

// check checks the value of one setting.
type check struct {
	key       string
	fn        func(key string, v any) []string
	mandatory bool
}

// checks returns the checks of the settings for a shovel with these protocols.
func checks(v map[string]any, by Access) []check {
	protocols := oneOf(amqp10, amqp091)
	uri := func(key string, v any) []string { return checkURIs(key, v, by) }
	all := []check{
		{"reconnect-delay", number, false}, {"ack-mode", oneOf(noAck, onPublish, onConfirm), false},
		{"src-protocol", protocols, false}, {"dest-protocol", protocols, false}, {"src-uri", uri, true},
	}
	if v["src-protocol"] == amqp10 {
		all = append(all, check{"src-address", text, true}, check{"src-prefetch-count", number, false}, check{"src-delete-after", deleteAfter, false})
	} else {
		all = append(all,
			check{"src-exchange", text, false}, check{"src-exchange-key", text, false}, check{"src-queue", text, false},
			check{"src-queue-args", arguments, false}, check{"src-consumer-args", arguments, false},
			check{"prefetch-count", number, false}, check{"src-prefetch-count", number, false},
			check{"delete-after", deleteAfter, false}, check{"src-delete-after", deleteAfter, false})
	}
	all = append(all, check{"dest-uri", uri, true})
	if v["dest-protocol"] == amqp10 {
		return append(all,
			check{"dest-address", text, true}, check{"dest-add-forward-headers", boolean, false}, check{"dest-add-timestamp-header", boolean, false},
			check{"dest-application-properties", texts, false}, check{"dest-message-annotations", texts, false}, check{"dest-properties", texts, false})
	}
	return append(all,
		check{"dest-exchange", text, false}, check{"dest-exchange-key", text, false}, check{"dest-queue", text, false}, check{"dest-queue-args", arguments, false},
		check{"add-forward-headers", boolean, false}, check{"add-timestamp-header", boolean, false},
		check{"dest-add-forward-headers", boolean, false}, check{"dest-add-timestamp-header", boolean, false},
		check{"publish-properties", checkProperties, false}, check{"dest-publish-properties", checkProperties, false})
}

// checkAll checks an object of settings. Like RabbitMQ, it reports unknown settings first, and the
// others from last to first.
func checkAll(name string, v map[string]any, all []check) (wrong []string) {
	left := maps.Clone(v)
	for _, c := range slices.Backward(all) {
		given, ok := v[c.key]
		delete(left, c.key)
		switch {
		case ok:
			wrong = append(wrong, c.fn(c.key, given)...)
		case c.mandatory:
			wrong = append(wrong, fmt.Sprintf("Key %s not found in %s", quote(c.key), name))
		}
	}
	if len(left) > 0 {
		wrong = append([]string{unknown(name, left)}, wrong...)
	}
	return wrong
}

func unknown(name string, left map[string]any) string {
	terms := make([]string, 0, len(left))
	for _, key := range slices.Sorted(maps.Keys(left)) {
		terms = append(terms, "{"+term(key)+","+term(left[key])+"}")
	}
	return fmt.Sprintf("Unrecognised terms [%s] in %s", strings.Join(terms, ","), name)
}

// term formats a value as Erlang does, as far as RabbitMQ's texts need it.
func term(v any) string {
	switch v := v.(type) {
	case string:
		return "<<" + quote(v) + ">>"
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return fmt.Sprint(int64(v))
		}
	case []any:
		terms := make([]string, len(v))
		for i := range v {
			terms[i] = term(v[i])
		}
		return "[" + strings.Join(terms, ",") + "]"
	case map[string]any:
		terms := make([]string, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			terms = append(terms, term(key)+" => "+term(v[key]))
		}
		return "#{" + strings.Join(terms, ",") + "}"
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

func should(key, be string, v any) []string {
	return []string{fmt.Sprintf("%s should be %s, actually was %s", key, be, term(v))}
}

func number(key string, v any) []string {
	if _, ok := v.(float64); ok {
		return nil
	}
	return should(key, "a number", v)
}

func text(key string, v any) []string {
	if _, ok := v.(string); ok {
		return nil
	}
	return should(key, "binary", v)
}

func boolean(key string, v any) []string {
	if _, ok := v.(bool); ok {
		return nil
	}
	return should(key, "boolean", v)
}

func oneOf(words ...string) func(string, any) []string {
	return func(key string, v any) []string {
		if s, ok := v.(string); ok && slices.Contains(words, s) {
			return nil
		}
		list := make([]any, len(words))
		for i, w := range words {
			list[i] = w
		}
		return should(key, "one of "+term(list), v)
	}
}

func deleteAfter(key string, v any) []string {
	n, isNumber := v.(float64)
	if v == never || v == queueLength || isNumber && n >= 0 && n == math.Trunc(n) {
		return nil
	}
	return should(key, `a number greater than or equal to 0, "never" or "queue-length"`, v)
}

// arguments checks the arguments of a queue or a consumer. Their names must begin with x-. Whether
// an argument is supported is checked only when it is used.
func arguments(key string, v any) []string {
	object, ok := v.(map[string]any)
	if !ok {
		return []string{fmt.Sprintf("%s not a list %s", key, term(v))}
	}
	left := maps.Clone(object)
	maps.DeleteFunc(left, func(key string, _ any) bool { return strings.HasPrefix(key, "x-") })
	if len(left) == 0 {
		return nil
	}
	return []string{unknown(key, left)}
}

// texts checks an object whose values must be strings.
func texts(key string, v any) (wrong []string) {
	object, ok := v.(map[string]any)
	if !ok {
		return []string{fmt.Sprintf("%s not a list %s", key, term(v))}
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		wrong = append(wrong, text(key, object[key])...)
	}
	return wrong
}

func checkProperties(key string, v any) []string {
	object, ok := v.(map[string]any)
	if !ok {
		return []string{fmt.Sprintf("%s not a list %s", key, term(v))}
	}
	return checkAll(key, object, []check{
		{"content_type", text, false}, {"content_encoding", text, false}, {"delivery_mode", number, false}, {"priority", number, false},
		{"correlation_id", text, false}, {"reply_to", text, false}, {"expiration", text, false}, {"message_id", text, false}, {"timestamp", number, false},
		{"type", text, false}, {"user_id", text, false}, {"app_id", text, false}, {"cluster_id", text, false},
	})
}

// checkURIs checks one URI or a list of them. It reports only the first invalid one.
func checkURIs(key string, v any, by Access) []string {
	if uri, ok := v.(string); ok {
		return checkURI(uri, by)
	}
	list, ok := v.([]any)
	if !ok {
		return should(key, "list", v)
	}
	if len(list) == 0 {
		return []string{key + " should name a broker, actually was []"}
	}
	for _, v := range list {
		if wrong := checkURIs(key, v, by); len(wrong) > 0 {
			return wrong
		}
	}
	return nil
}

func checkURI(uri string, by Access) []string {
	invalid := func(why string) []string {
		shown := quote(masked(uri))
		return []string{fmt.Sprintf("%s not a valid URI: {%s,%s}", shown, why, shown)}
	}
	scheme, _, ok := strings.Cut(uri, "://")
	switch {
	case !ok:
		return invalid("{unable_to_parse_uri,no_scheme}")
	case scheme != "amqp" && scheme != "amqps":
		return invalid("{unexpected_uri_scheme," + quote(scheme) + "}")
	}
	u, err := url.Parse(uri)
	if err != nil {
		return invalid("{unable_to_parse_uri,malformed_uri}")
	}
	parsed, err := amqp.ParseURI(uri)
	if err != nil {
		return invalid("{unable_to_parse_uri,malformed_uri}")
	}
	if u.Host == "" && by.May != nil && !by.May(parsed.Vhost) {
		return []string{fmt.Sprintf("user %s may not connect to vhost %s", quote(by.User), quote(parsed.Vhost))}
	}
	return nil
}

var login = regexp.MustCompile(`//.*@`)

// masked returns a URI without its login, because errors may be logged.
func masked(uri string) string { return login.ReplaceAllLiteralString(uri, "//***@") }

// quote quotes a string in a message for people, as RabbitMQ does.
func quote(s string) string { return strconv.Quote(s) }
