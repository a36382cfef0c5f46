package value

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"fiveways.dev/fiveways/test/postgres/peer"
)

var castTargets = []*Type{
	Int2, Int4, Int8, Float4, Float8, NumericType, Bool, OID, Text, Varchar, BPChar, Name, Char, DateType, TimeType, TimestampType,
	TimestampTZType, IntervalType, Bytea, UUID, JSON, JSONB, Int4.Array, Text.Array, NumericType.Array,
}

// Fields of an interval in the bits of a typmod, and the sets of them that SQL can declare.
const month, year, day, hour, minute, second = 1 << 1, 1 << 2, 1 << 3, 1 << 10, 1 << 11, 1 << 12

var intervalFields = []int32{
	year, month, day, hour, minute, second, year | month, day | hour, day | hour | minute, day | hour | minute | second,
	hour | minute, hour | minute | second, minute | second, 0x7fff,
}

// randomTypmod returns a random typmod, often none.
func randomTypmod(r *rand.Rand, t *Type) int32 {
	if r.IntN(2) == 0 {
		return -1
	}
	var args []int32
	switch t {
	case NumericType:
		args = []int32{1 + r.Int32N(10), r.Int32N(8) - 2}
	case Varchar, BPChar:
		args = []int32{1 + r.Int32N(6)}
	case TimeType, TimestampType, TimestampTZType:
		args = []int32{r.Int32N(7)}
	case IntervalType:
		fields := intervalFields[r.IntN(len(intervalFields))]
		args = []int32{fields}
		if fields&second != 0 && r.IntN(2) == 0 {
			args = append(args, r.Int32N(7))
		}
	default:
		return -1
	}
	typmod, err := Typmod(t, args)
	if err != nil {
		panic(err)
	}
	return typmod
}

// randomText returns a type and a text that is usually a valid value of it. damaged reports whether
// the text was modified.
func randomText(r *rand.Rand) (t *Type, s string, damaged bool) {
	t = castTargets[r.IntN(len(castTargets))]
	s = textOf(r, t)
	if r.IntN(12) == 0 {
		return t, damage(r, s), true
	}
	return t, s, false
}

func damage(r *rand.Rand, s string) string {
	at := r.IntN(len(s) + 1)
	for at < len(s) && s[at]&0xC0 == 0x80 {
		at++
	}
	if r.IntN(2) == 0 {
		return s[:at] + peer.Pick(r, " ", "-", ".", ":", "x", ",", "}", "\"", "\\", "0", "e", "(", "+") + s[at:]
	}
	if at < len(s) && s[at] < 0x80 {
		return s[:at] + s[at+1:]
	}
	return s + s
}

func textOf(r *rand.Rand, t *Type) string {
	switch t {
	case Bool:
		return peer.Pick(r, "t", "false", "yes", "n", "1", "0", "on", "of", " TRUE ", "o", "2", "y")
	case Int2, Int4, Int8, OID:
		return peer.Pick(r, "", " ", "-", "+") + fmt.Sprint(r.Uint64()>>(r.IntN(64)))
	case Float4, Float8, NumericType:
		return numberText(r)
	case DateType, TimeType, TimestampType, TimestampTZType:
		return momentText(r, t)
	case IntervalType:
		return intervalText(r)
	case Bytea:
		return peer.Pick(r, `\x`+fmt.Sprintf("%04x", r.IntN(1<<16)), `a\\b\001\377`, `plain`, `\xFf 00`, `\x1`, `\y`, `é`)
	case UUID:
		s := fmt.Sprintf("%016x%016X", r.Uint64(), r.Uint64())
		return peer.Pick(r, s, s[:8]+"-"+s[8:12]+"-"+s[12:16]+"-"+s[16:20]+"-"+s[20:], "{"+s+"}", s[:4]+"-"+s[4:])
	case JSON, JSONB:
		return jsonText(r, 3)
	}
	if t.IsArray() {
		return arrayText(r, t.Elem, 1+r.IntN(3))
	}
	return peer.Pick(r, "", "a", "NULL", "é€😀", "a b  ", " 12 ", "1.5", "it's", `"q"`, `\`, "2024-01-02", "t", "{1,2}", "abcdefghij", "x   ", numberText(r))
}

func numberText(r *rand.Rand) string {
	digits := fmt.Sprint(r.Uint64() >> r.IntN(64))
	switch r.IntN(8) {
	case 0:
		return peer.Pick(r, "NaN", "inf", "-Infinity", "0", "-0", "0.000", "1e300", "-1e-300", "1e40", "9999.9995", "0.5", "-2.5", "1e-7")
	case 1:
		return peer.Pick(r, "", "-") + digits + "e" + fmt.Sprint(r.IntN(60)-30)
	case 2:
		return peer.Pick(r, "", "-", "+") + "." + digits
	}
	return peer.Pick(r, "", "-", " ") + digits + "." + strings.Repeat("0", r.IntN(5)) + fmt.Sprint(r.Uint64()>>r.IntN(64)) + peer.Pick(r, "", "0", "000")
}

var zonesText = []string{"", "", "+03", "-05:30", "+0530", "Z", " UTC", " MSK", " EST", " America/New_York", " europe/moscow", "+3", "-08:15:30", " PDT"}

func momentText(r *rand.Rand, t *Type) string {
	year, month, day := 1890+r.IntN(200), 1+r.IntN(12), 1+r.IntN(29)
	if r.IntN(10) == 0 {
		year = r.IntN(6000)
	}
	monthName := time.Month(month).String()
	if r.IntN(2) == 0 {
		monthName = monthName[:3]
	}
	date := ""
	switch r.IntN(14) {
	default:
		date = fmt.Sprintf("%04d-%02d-%02d", year, month, day)
	case 0:
		date = fmt.Sprintf("%04d%02d%02d", year, month, day)
	case 1:
		date = fmt.Sprintf("%s %d, %d", monthName, day, year)
	case 2:
		date = fmt.Sprintf("%d %s %d", day, monthName, year)
	case 3:
		date = fmt.Sprintf("%d/%d/%d", month, day, year)
	case 4:
		date = fmt.Sprintf("%02d-%s-%02d", day, monthName, year%100)
	case 5:
		date = fmt.Sprintf("%d.%d.%d", day, month, year)
	case 6:
		date = fmt.Sprintf("%02d%02d%02d", year%100, month, day)
	case 7:
		date = fmt.Sprintf("%d.%03d", year, 1+r.IntN(366))
	case 8:
		date = fmt.Sprintf("%s %s %d %d", peer.Pick(r, "Mon", "tuesday", "Sat"), monthName, day, year)
	case 9:
		return peer.Pick(r, "epoch", "infinity", "-infinity", "J2451187", "January 8, 99 BC", "08-Jan-1999", "1999-Jan-08", "Jan-08-1999", "99-Jan-08", "allballs",
			"5000-01-01 BC", "294276-12-31", "294277-01-01", "4714-11-24 BC", "4714-11-23 BC", "5874897-12-31", "1/2/03", "2024-02-29", "2023-02-29", "24:00:00")
	}
	if r.IntN(15) == 0 {
		date += peer.Pick(r, " BC", " AD")
	}
	hour, minute, second := r.IntN(24), r.IntN(60), r.IntN(60)
	clock := fmt.Sprintf("%02d:%02d:%02d", hour, minute, second)
	switch r.IntN(8) {
	case 0:
		clock = fmt.Sprintf("%d:%02d", hour, minute)
	case 1:
		clock = fmt.Sprintf("%02d%02d%02d", hour, minute, second)
	case 2, 3:
		clock += fmt.Sprintf(".%d", r.IntN(10000000))
	case 4:
		clock = fmt.Sprintf("%d:%02d %s", r.IntN(13), minute, peer.Pick(r, "AM", "pm"))
	case 5:
		clock = fmt.Sprintf("%02d:%02d:%02d", r.IntN(26), r.IntN(61), r.IntN(62))
	}
	clock += zonesText[r.IntN(len(zonesText))]
	switch {
	case t == TimeType && r.IntN(4) > 0:
		return clock
	case r.IntN(3) == 0:
		return date
	case r.IntN(10) == 0:
		return clock + " " + date
	}
	if strings.HasSuffix(date, "C") || strings.HasSuffix(date, "D") {
		return date + " " + clock
	}
	return date + peer.Pick(r, " ", "T", "  ") + clock
}

func intervalText(r *rand.Rand) string {
	n := func() string {
		v := peer.Pick(r, "", "", "-", "+") + fmt.Sprint(r.IntN(200))
		if r.IntN(4) == 0 {
			v += fmt.Sprintf(".%d", r.IntN(1000))
		}
		return v
	}
	switch r.IntN(8) {
	case 0:
		return fmt.Sprintf("P%dY%dM%dDT%dH%dM%d.%dS", r.IntN(5), r.IntN(20), r.IntN(40), r.IntN(30), r.IntN(70), r.IntN(70), r.IntN(100))
	case 1:
		return fmt.Sprintf("%s%d-%d", peer.Pick(r, "", "-"), r.IntN(20), r.IntN(13))
	case 2:
		return fmt.Sprintf("%s%d %s%d:%02d:%02d", peer.Pick(r, "", "-"), r.IntN(20), peer.Pick(r, "", "-", "+"), r.IntN(40), r.IntN(61), r.IntN(61))
	case 3:
		return fmt.Sprintf("%s%d:%02d", peer.Pick(r, "", "-"), r.IntN(40), r.IntN(60))
	case 4:
		return peer.Pick(r, "P1W", "PT36H", "P", "1", "1.5", "", "@ 1 minute ago", "1-2 3 4:05:06", "P1.5Y", "PT1.5S", "-P1D", "2147483647 days", "2147483648 days",
			"178956970 years", "178956971 years", "9223372036854775807 us", "2562047788 hours", "1e3 days", "0", "1 day 1 day", "day", "1 2 days", "P1Y1Y", "PT", "1h")
	}
	words := []string{}
	for _, u := range []string{"years", "mons", "weeks", "days", "hours", "min", "secs", "ms", "us", "decade", "c", "y", "d", "h", "m", "s"} {
		if r.IntN(4) == 0 {
			words = append(words, n()+peer.Pick(r, " ", "")+u)
		}
	}
	return peer.Pick(r, "", "", "@ ") + strings.Join(words, " ") + peer.Pick(r, "", "", "", " ago")
}

func jsonText(r *rand.Rand, depth int) string {
	if depth == 0 || r.IntN(2) == 0 {
		return peer.Pick(r, "1", "-1.50", "1e3", "1E-2", "0", "true", "false", "null", `"a"`, `"é\n\u00e9"`, `"\ud83d\ude00"`, `""`, `"\/"`, "01", "tru", `"\u0000"`, "1.0e5", `"\u001f"`)
	}
	var parts []string
	for range r.IntN(4) {
		part := jsonText(r, depth-1)
		parts = append(parts, part)
	}
	if r.IntN(2) == 0 {
		return "[" + strings.Join(parts, peer.Pick(r, ",", " , ")) + "]"
	}
	for i := range parts {
		parts[i] = peer.Pick(r, `"a"`, `"b"`, `"aa"`, `"é"`, `""`) + peer.Pick(r, ":", " : ") + parts[i]
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func arrayText(r *rand.Rand, elem *Type, depth int) string {
	var parts []string
	for range r.IntN(4) {
		if depth > 1 {
			parts = append(parts, arrayText(r, elem, depth-1))
			continue
		}
		s := textOf(r, elem)
		if elem == Text && r.IntN(2) == 0 || strings.ContainsAny(s, `"\{},`) || s == "" {
			s = `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(s) + `"`
		}
		parts = append(parts, peer.Pick(r, s, s, s, "NULL", " "+s+" "))
	}
	bounds := ""
	if depth == 1 && r.IntN(10) == 0 {
		bounds = fmt.Sprintf("[%d:%d]=", -1, len(parts)-2)
	}
	return bounds + "{" + strings.Join(parts, ",") + "}"
}
