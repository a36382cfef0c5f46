package selector

import (
	"iter"
	"math"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
)

// order returns the message that most tests use.
func order() message.Envelope {
	p := message.Properties{
		Flags: message.HasContentType | message.HasHeaders | message.HasDeliveryMode | message.HasPriority | message.HasCorrelationID |
			message.HasExpiration | message.HasMessageID | message.HasTimestamp | message.HasType | message.HasAppID,
		ContentType: "application/json", DeliveryMode: message.Persistent, Priority: 5, CorrelationID: "c-1", Expiration: "60000",
		MessageID: "m-17", Timestamp: 1_700_000_000, Type: "order", AppID: "shop",
		Headers: message.Table{
			{Name: "region", Value: "EU-west"}, {Name: "amount", Value: int32(250)}, {Name: "price", Value: 9.99}, {Name: "urgent", Value: true},
			{Name: "cold", Value: false}, {Name: "void", Value: nil}, {Name: "x-dash", Value: "d"}, {Name: "priority", Value: "high"},
			{Name: "big", Value: int64(math.MaxInt64)}, {Name: "small", Value: int64(math.MinInt64)}, {Name: "half", Value: float32(0.5)},
			{Name: "dec", Value: message.Decimal{Scale: 2, Value: 1050}}, {Name: "when", Value: message.Timestamp(1000)},
			{Name: "late", Value: message.Timestamp(math.MaxUint64)}, {Name: "octets", Value: message.Bytes("raw")},
			{Name: "table", Value: message.Table{}}, {Name: "nan", Value: math.NaN()}, {Name: "inf", Value: math.Inf(1)},
			{Name: "two53", Value: float64(1 << 53)}, {Name: "dotted.name", Value: "yes"}, {Name: "empty", Value: ""}, {Name: "größe", Value: uint16(40)},
			{Name: "tiny", Value: int8(-3)}, {Name: "u8", Value: uint8(200)}, {Name: "s16", Value: int16(-300)}, {Name: "u32", Value: uint32(4e9)},
			{Name: "ll", Value: message.LongLong(-1)}, {Name: "in", Value: "keyword"}, {Name: "city", Value: "Köln"}, {Name: "exists", Value: int64(1)},
			{Name: "rate", Value: "100%"}, {Name: "path", Value: "a_b"}, {Name: `say "hi"`, Value: int64(2)}, {Name: "deaths", Value: message.Array{}},
		},
	}
	return message.Envelope(append(message.AppendEnvelopeHeader(nil, "shop", "order.created", p.Append(nil)), "body"...))
}

// outcome returns the truth of a condition.
func outcome(t testing.TB, text string, env message.Envelope) truth {
	t.Helper()
	s, err := Compile(text)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return unknown
	}
	exchange, key, props, _ := env.Split()
	got := s.root.test(&view{m: Message{Exchange: string(exchange), Key: string(key), Props: props}})
	if s.Match(env) != (got == yes) {
		t.Errorf("%s: Match disagrees with %v", text, got)
	}
	if s.String() != text {
		t.Errorf("String gives %q for %q", s.String(), text)
	}
	return got
}

// conditions are grouped by their truth for order.
var conditions = map[truth]string{
	yes: `
		region = 'EU-west'
		region <> 'US'
		region != 'US'
		region > 'EU' AND region < 'EV'
		region >= 'EU-west' AND region <= 'EU-west'
		amount = 250
		amount = 250.0
		amount <> 251
		amount > 249 AND amount < 251
		amount >= 250 AND amount <= 250
		amount = 0xFA
		amount = 0Xfa
		amount = 250L
		amount = 2.5e2
		amount = 25E+1
		amount = 2500e-1D
		amount = 0250
		price = 9.99
		price > 9 AND price < 10
		half = .5
		half = 0.5f
		dec = 10.5
		when = 1000
		late > 9223372036854775807
		tiny = -3 AND u8 = 200 AND s16 = -300 AND u32 = 4000000000 AND ll = -1
		octets = 'raw'
		urgent
		NOT cold
		urgent = TRUE
		urgent <> FALSE
		urgent = true
		cold = False
		urgent <> cold
		TRUE
		NOT FALSE
		(urgent)
		((amount = 250))
		urgent AND NOT cold
		cold OR urgent
		cold AND cold OR urgent
		urgent OR cold AND cold
		NOT cold AND urgent
		NOT (cold AND urgent)
		urgent and not cold Or FALSE
		amount BETWEEN 250 AND 250
		amount BETWEEN 1 AND 300 AND urgent
		amount NOT BETWEEN 251 AND 300
		amount NOT BETWEEN 300 AND 200
		amount BETWEEN 249.5 AND 250.5
		region BETWEEN 'EU' AND 'EV'
		amount BETWEEN amount - 1 AND amount + 1
		region IN ('US', 'EU-west')
		region NOT IN ('US')
		amount IN (1, 250, 3)
		amount IN (250.0)
		price IN (9.99, 1)
		amount NOT IN (1.5, -2)
		half IN (1, +.5)
		small IN (-9223372036854775808)
		city IN ('Köln')
		region LIKE 'EU%'
		region LIKE '%west'
		region LIKE '%-%'
		region LIKE 'EU_west'
		region LIKE '%'
		region LIKE '%%U%s%t'
		region LIKE '_______'
		region NOT LIKE 'US%'
		region NOT LIKE '______'
		region NOT LIKE 'EU'
		region NOT LIKE ''
		empty LIKE ''
		empty LIKE '%'
		empty NOT LIKE '_'
		city LIKE 'K_ln'
		city LIKE '%ö__'
		rate LIKE '%!%' ESCAPE '!'
		rate LIKE '100\%' ESCAPE '\'
		path LIKE 'a%_b' ESCAPE '%'
		path LIKE 'aä_b' ESCAPE 'ä'
		'a!b' LIKE 'a!!_' ESCAPE '!'
		'aab' LIKE '%ab'
		'ababac' LIKE '%aba_'
		'abcabcd' LIKE 'a%bcd'
		'it''s' = 'it''s'
		'it''s' LIKE '__''_'
		missing IS NULL
		void IS NULL
		region IS NOT NULL
		table IS NOT NULL AND deaths IS NOT NULL
		nan IS NOT NULL
		user_id IS NULL
		amount / 0 IS NULL
		(missing = 1) IS NULL
		EXISTS(region) AND NOT exists(missing) AND exists = 1
		EXISTS("x-dash")
		amount + 1 = 251
		amount - 1 = 249
		amount * 2 = 500
		amount / 2 = 125
		7 / 2 = 3
		-7 / 2 = -3
		7 / 2.0 = 3.5
		1 + 2 * 3 = 7
		(1 + 2) * 3 = 9
		10 - 3 - 2 = 5
		100 / 10 / 5 = 2
		2 * 3 / 4 = 1
		-amount = -250
		- -amount = 250
		+amount = 250
		2 - -1 = 3
		-amount + 300 = 50
		price * 2 > 19.97
		inf > big AND -inf < small
		big = 9223372036854775807
		big < 9223372036854775808.0
		small = -9223372036854775808
		small = - 9223372036854775808
		two53 < 9007199254740993
		9007199254740993 > two53
		9007199254740993 <> two53
		two53 = 9007199254740992
		content_type = 'application/json'
		delivery_mode = 2
		priority = 5
		properties.priority = 5
		properties."priority" = 5
		headers.priority = 'high'
		application_properties.priority = 'high'
		"priority" = 'high'
		headers."priority" = 'high'
		correlation_id = 'c-1'
		expiration = '60000'
		message_id = 'm-17'
		timestamp = 1700000000
		type = 'order'
		app_id = 'shop'
		cluster_id IS NULL AND reply_to IS NULL AND content_encoding IS NULL
		exchange = 'shop'
		routing_key LIKE 'order.%'
		JMSPriority = 5
		JMSMessageID = 'm-17'
		JMSCorrelationID = 'c-1'
		JMSType = 'order'
		JMSTimestamp = 1700000000000
		JMSDeliveryMode = 'PERSISTENT'
		JMSReplyTo IS NULL
		"x-dash" = 'd'
		headers."x-dash" = 'd'
		dotted.name = 'yes'
		headers.dotted.name = 'yes'
		"in" = 'keyword'
		headers.in = 'keyword'
		größe = 40
		"say ""hi""" = 2
		"properties.priority" IS NULL
		headers.application_properties.priority IS NULL
		Region IS NULL
		(amount > 100) = urgent
		(amount>100)AND(urgent)`,
	no: `
		region = 'eu-west'
		region <> 'EU-west'
		region < 'EU-'
		amount <> 250
		amount > 250
		NOT urgent
		cold
		urgent AND cold
		cold OR FALSE
		urgent = cold
		missing = 1 AND cold
		cold AND missing = 1
		NOT (missing = 1 OR urgent)
		amount BETWEEN 251 AND 300
		amount BETWEEN 300 AND 200
		amount BETWEEN missing AND 200
		amount BETWEEN 300 AND missing
		amount NOT BETWEEN 250 AND 250
		region IN ('US', 'eu-west')
		amount IN (1, 2)
		region NOT IN ('EU-west')
		region LIKE 'EU'
		region LIKE 'eu%'
		city LIKE 'K__ln'
		rate LIKE '%!%_' ESCAPE '!'
		path LIKE 'a!%b' ESCAPE '!'
		'abc' LIKE '%b'
		'abc' LIKE '%_bc_'
		region IS NULL
		missing IS NOT NULL
		amount = 250.00000001
		big = 9223372036854775808.0
		two53 = 9007199254740993
		two53 IN (9007199254740993)
		JMSDeliveryMode = 'NON_PERSISTENT'
		FALSE`,
	unknown: `
		missing
		missing = 1
		missing <> 1
		missing = missing
		missing <> missing
		void = 1
		NOT missing
		NOT (missing = 1)
		NOT (missing <> 1)
		missing = 1 OR cold
		missing = 1 OR missing = 2
		missing = 1 AND urgent
		urgent AND missing = 1
		region
		NOT region
		amount
		region = 5
		region <> 5
		NOT (region = 5)
		region < 5
		amount = '250'
		amount <> '250'
		amount = TRUE
		urgent = 1
		urgent = 'true'
		urgent > cold
		urgent <= urgent
		table = 'x'
		table = table
		deaths <> 'x'
		nan = nan
		nan <> 1
		nan > 1 OR nan < 1
		inf - inf = 0
		missing BETWEEN 1 AND 2
		missing NOT BETWEEN 1 AND 2
		amount BETWEEN 'a' AND 'z'
		amount BETWEEN missing AND 300
		amount BETWEEN 1 AND missing
		amount NOT BETWEEN 1 AND missing
		missing IN ('a')
		missing NOT IN ('a')
		amount IN ('250')
		amount NOT IN ('250')
		region IN (1)
		region NOT IN (1)
		urgent IN (1)
		missing LIKE '%'
		missing NOT LIKE '%'
		amount LIKE '250'
		amount NOT LIKE '250'
		amount / 0 = 1
		amount / 0 <> 1
		amount / 0.0 > 1
		big + 1 > 0
		small - 1 < 0
		big * 2 > 0
		-small > 0
		small / -1 > 0
		small * -1 > 0
		region + 1 = 2
		-region = 1
		urgent + 1 = 2
		missing + 1 = 1`,
}

// lines yields the conditions of a list.
func lines(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(strings.TrimSpace(list)) {
			if !yield(strings.TrimSpace(line)) {
				return
			}
		}
	}
}

func TestConditions(t *testing.T) {
	env := order()
	for want, list := range conditions {
		for text := range lines(list) {
			if got := outcome(t, text, env); got != want {
				t.Errorf("%s: %d, want %d", text, got, want)
			}
		}
	}
}

func TestNothingSet(t *testing.T) {
	p := message.Properties{}
	bare := message.Envelope(message.AppendEnvelopeHeader(nil, "", "q", p.Append(nil)))
	for text, want := range map[string]truth{
		"exchange = '' AND routing_key = 'q'": yes, "priority IS NULL AND timestamp IS NULL AND JMSTimestamp IS NULL": yes,
		"JMSDeliveryMode = 'NON_PERSISTENT'": yes, "delivery_mode IS NULL": yes, "a = 1": unknown, "a IS NULL": yes,
	} {
		if got := outcome(t, text, bare); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
	p = message.Properties{Flags: message.HasTimestamp | message.HasReplyTo, Timestamp: math.MaxInt64, ReplyTo: ""}
	late := message.Envelope(message.AppendEnvelopeHeader(nil, "", "q", p.Append(nil)))
	for text, want := range map[string]truth{
		"timestamp = 9223372036854775807": yes, "JMSTimestamp IS NULL": yes, "reply_to = ''": yes, "reply_to IS NULL": no,
	} {
		if got := outcome(t, text, late); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

func TestMalformedProperties(t *testing.T) {
	s, err := Compile("priority IS NULL AND a IS NULL AND JMSDeliveryMode = 'NON_PERSISTENT'")
	if err != nil {
		t.Fatal(err)
	}
	for _, props := range []string{"", "\xff", "\xff\xff", "\x20\x00\x00\x00\x00\x09\x01a", "\x20\x00\x00\x00\x00\x03\x01a?"} {
		if !s.MatchMessage(&Message{Props: []byte(props)}) {
			t.Errorf("%q has properties", props)
		}
	}
}

func TestRefused(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("(", n) + "a" + strings.Repeat(")", n) }
	for text, want := range map[string]string{
		"":                                "at 1: expected a value, got the end",
		"   ":                             "at 4: expected a value, got the end",
		"a = ":                            "at 5: expected a value, got the end",
		"(a = 1) OR )":                    "at 12: expected a value, got ')'",
		"größe = )":                       "at 9: expected a value, got ')'",
		"(a = 1":                          "at 7: expected ), got the end",
		"a = 1)":                          "at 6: expected an operator or the end, got ')'",
		"a = 1 = 1":                       "at 7: expected an operator or the end, got '='",
		"a b":                             "at 3: expected an operator or the end, got 'b'",
		"a == 1":                          "at 4: expected a value, got '='",
		"a AND":                           "at 6: expected a value, got the end",
		"a = 1 IS NULL":                   "at 7: expected an operator or the end, got 'IS'",
		"a>1AND b":                        "at 4: unexpected 'A' in a number",
		"a = NOT b":                       "at 5: expected a value, got 'NOT'",
		"a NOT = 1":                       "at 7: expected BETWEEN, IN or LIKE, got '='",
		"a IS 1":                          "at 6: expected NULL, got '1'",
		"a IS NOT 1":                      "at 10: expected NULL, got '1'",
		"a BETWEEN 1 OR 2":                "at 13: expected AND, got 'OR'",
		"a IN 1":                          "at 6: expected (, got '1'",
		"a IN ()":                         "at 7: expected a string or a number, got ')'",
		"a IN ('x' 'y')":                  "at 11: expected , or ), got ''y''",
		"a IN ('x', 1)":                   "at 12: expected a string, got '1'",
		"a IN (1, 'x')":                   "at 10: expected a string or a number, got ''x''",
		"a IN (1, b)":                     "at 10: expected a string or a number, got 'b'",
		"a IN (1,":                        "at 9: expected a string or a number, got the end",
		"a LIKE b":                        "at 8: expected a string, got 'b'",
		"a LIKE 1":                        "at 8: expected a string, got '1'",
		"a LIKE 'x' ESCAPE":               "at 18: expected a string of one character, got the end",
		"a LIKE 'x' ESCAPE '!!'":          "at 19: expected a string of one character, got ''!!''",
		"a LIKE 'x' ESCAPE ''":            "at 19: expected a string of one character, got ''''",
		"a LIKE 'x!' ESCAPE '!'":          "at 8: the pattern ends with an escape character",
		"a LIKE 'x!y' ESCAPE '!'":         "at 8: expected %, _ or the escape character behind an escape character",
		"5":                               "at 1: expected a condition, got a value",
		"'a'":                             "at 1: expected a condition, got a value",
		"a AND 5":                         "at 7: expected a condition, got a value",
		"a + 1 OR b":                      "at 1: expected a condition, got a value",
		"NOT 'x'":                         "at 5: expected a condition, got a value",
		"a + 'x' = 1":                     "at 3: expected a number to calculate with",
		"-TRUE = 1":                       "at 1: expected a number to calculate with",
		"a = 'x":                          "at 5: this quote is never closed",
		`"a = 1`:                          "at 1: this quote is never closed",
		"a = 1 ; b":                       "at 7: unexpected character ';'",
		"a = 12ab":                        "at 7: unexpected 'a' in a number",
		"a = 1.2.3":                       "at 8: unexpected '.' in a number",
		"a = 0x":                          "at 6: unexpected 'x' in a number",
		"a = 1é":                          "at 6: unexpected 'é' in a number",
		"a = 9223372036854775808":         "at 5: expected a number of 64 bits, got '9223372036854775808'",
		"a = -9223372036854775809":        "at 6: expected a number of 64 bits, got '9223372036854775809'",
		"a = 0xFFFFFFFFFFFFFFFF":          "at 5: expected a number of 64 bits, got '0xFFFFFFFFFFFFFFFF'",
		"a IN (9223372036854775808)":      "at 7: expected a number of 64 bits, got '9223372036854775808'",
		"a = 1e999":                       "at 5: expected a number of 64 bits, got '1e999'",
		"a. = 1":                          "at 3: expected a name after the dot",
		"properties.none = 1":             "at 1: there is no property 'none'",
		`properties."none" = 1`:           "at 1: there is no property 'none'",
		`other."none" = 1`:                "at 1: expected headers. or properties. in front of a quoted name",
		"UPPER(a) = 'X'":                  "at 1: there is no function 'UPPER'",
		"EXISTS(1)":                       "at 8: expected a name, got '1'",
		"EXISTS(a":                        "at 9: expected ), got the end",
		"a = '\xff'":                      "at 6: the text is not UTF-8",
		"a = '" + strings.Repeat("x", 40): "at 5: this quote is never closed",
		"a = b " + strings.Repeat("c", 40): "at 7: expected an operator or the end, got '" +
			strings.Repeat("c", 24) + "…'",
		strings.Repeat("a", 256):                        "at 1: a header's name has at most 255 bytes",
		strings.Repeat(" ", MaxText+1):                  "at 1: the text is longer than 8192 bytes",
		deep(MaxDepth + 1):                              "at 65: nested deeper than 64",
		strings.Repeat("NOT ", MaxDepth+1) + "a":        "at 261: nested deeper than 64",
		"a = " + strings.Repeat("-", MaxDepth+1) + "b":  "at 70: nested deeper than 64",
		"a = 1" + strings.Repeat("+1", MaxDepth):        "at 132: nested deeper than 64",
		"a IN (1" + strings.Repeat(",1", MaxList) + ")": "at 2007: more than 1000 values",
	} {
		_, err := Compile(text)
		if err == nil || err.Error() != "selector: "+want {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{
		deep(MaxDepth), strings.Repeat("NOT ", MaxDepth-1) + "a", "a" + strings.Repeat(" AND b OR c", 600),
		"a IN (1" + strings.Repeat(",1", MaxList-1) + ")", "a = '" + strings.Repeat("x", MaxText-6) + "'",
	} {
		if _, err := Compile(text); err != nil {
			t.Errorf("%.40s...: %v", text, err)
		}
	}
}

// TestLikeIsNotExponential would not end if LIKE took exponential time.
func TestLikeIsNotExponential(t *testing.T) {
	s, err := Compile("a LIKE '" + strings.Repeat("%a", 2000) + "b'")
	if err != nil {
		t.Fatal(err)
	}
	headers := message.Table{{Name: "a", Value: strings.Repeat("a", 10_000)}}
	p := message.Properties{Flags: message.HasHeaders, Headers: headers}
	if s.MatchMessage(&Message{Props: p.Append(nil)}) {
		t.Error("matched")
	}
}
