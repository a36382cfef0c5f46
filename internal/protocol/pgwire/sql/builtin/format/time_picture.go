package format

import (
	"strings"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
)

// timeKeys are the patterns of time formats. A pattern precedes its prefixes. Patterns in upper
// case also exist in lower case.
var timeKeys = func() []string {
	upper := strings.Fields(`A.D. A.M. B.C. P.M. Y,YYY AD AM BC CC DAY DDD DD DY D FF1 FF2 FF3 FF4 FF5 FF6 FX HH24 HH12 HH IDDD ID IW IYYY IYY IY I J MI
		MM MONTH MON MS OF PM Q RM SSSSS SSSS SS TZH TZM TZ US WW W YYYY YYY YY Y`)
	keys := []string{"Month", "Mon", "Day", "Dy"}
	for _, k := range upper {
		keys = append(keys, k, pgtext.LowerASCII(k))
	}
	return keys
}()

// timeNode is a pattern of a format, or literal text.
type timeNode struct {
	key     string // as written; empty: literal text
	text    string
	fill    bool // FM: no padding
	ordinal string
}

// parseTimeFormat parses a format.
func parseTimeFormat(format string) []timeNode {
	var nodes []timeNode
	for format != "" {
		var n timeNode
		for _, prefix := range []string{"FM", "fm", "TM", "tm"} {
			if rest, ok := strings.CutPrefix(format, prefix); ok {
				n.fill, format = true, rest
				break
			}
		}
		if key := keyAt(format, timeKeys); key != "" {
			n.key, format = key, format[len(key):]
			for _, suffix := range []string{"TH", "th", "SP"} {
				if rest, ok := strings.CutPrefix(format, suffix); ok {
					format = rest
					if suffix != "SP" {
						n.ordinal = suffix
					}
				}
			}
			nodes = append(nodes, n)
			continue
		}
		if format == "" {
			break
		}
		n.text, format = literalText(format)
		nodes = append(nodes, n)
	}
	return nodes
}

func keyAt(format string, keys []string) string {
	for _, k := range keys {
		if strings.HasPrefix(format, k) {
			return k
		}
	}
	return ""
}

// literalText splits a quoted text, or one character, from a format.
func literalText(format string) (text, rest string) {
	if format[0] == '"' {
		var b strings.Builder
		i := 1
		for ; i < len(format) && format[i] != '"'; i++ {
			if format[i] == '\\' && i+1 < len(format) {
				i++
			}
			b.WriteByte(format[i])
		}
		return b.String(), format[min(i+1, len(format)):]
	}
	if strings.HasPrefix(format, `\"`) {
		format = format[1:]
	}
	_, size := utf8.DecodeRuneInString(format)
	return format[:size], format[size:]
}

// ordinal returns the ordinal suffix of a number: st, nd, rd, th.
func ordinal(number string, capital bool) string {
	ending := "th"
	if n := len(number); n < 2 || number[n-2] != '1' {
		switch number[n-1] {
		case '1':
			ending = "st"
		case '2':
			ending = "nd"
		case '3':
			ending = "rd"
		}
	}
	if capital {
		return pgtext.UpperASCII(ending)
	}
	return ending
}

var (
	monthNames = strings.Fields("January February March April May June July August September October November December")
	dayNames   = strings.Fields("Sunday Monday Tuesday Wednesday Thursday Friday Saturday")
	romans     = strings.Fields("I II III IV V VI VII VIII IX X XI XII")
)

// spelled returns a name in the case of its pattern: MONTH, Month, month.
func spelled(name, key string) string {
	switch {
	case pgtext.IsLowerASCII(key[0]):
		return pgtext.LowerASCII(name)
	case pgtext.IsUpperASCII(key[1]):
		return pgtext.UpperASCII(name)
	}
	return name
}
