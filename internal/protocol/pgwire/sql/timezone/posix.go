package timezone

import (
	"encoding/binary"
	"math"
	"strings"
	"time"
)

// maxZoneSeconds is the exclusive upper limit of offsets in POSIX rules.
const maxZoneSeconds = 7 * 24 * 3600

// posix parses a POSIX rule: a label (letters, or <anything>) and an offset west of Greenwich,
// optionally followed by the label of daylight saving time, its offset, and when it begins and
// ends. It returns nil if the rule is invalid.
func posix(rule string) *time.Location {
	label, rest := posixLabel(rule)
	offset := rest
	if i := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("+-:0123456789", r) }); i >= 0 {
		offset, rest = rest[:i], rest[i:]
	} else {
		rest = ""
	}
	if offset == "" || strings.Contains(label, "/") { // Etc/GMT+3 is a zone name
		return nil
	}
	normal := "<" + label + ">" + offset
	if rest != "" {
		summer, rest := posixLabel(rest)
		if summer == "" {
			return nil
		}
		normal += "<" + summer + ">" + rest
	}
	zone, err := time.LoadLocationFromTZData(rule, ruleFile(normal))
	if err != nil {
		return nil
	}
	if _, seconds := time.Unix(0, 0).In(zone).Zone(); seconds <= -maxZoneSeconds || seconds >= maxZoneSeconds {
		return nil
	}
	return zone
}

func posixLabel(rule string) (label, rest string) {
	if bracketed, ok := strings.CutPrefix(rule, "<"); ok {
		label, rest, _ = strings.Cut(bracketed, ">")
		return label, rest
	}
	if i := strings.IndexAny(rule, "0123456789,-+"); i >= 0 {
		return rule[:i], rule[i:]
	}
	return rule, ""
}

// ruleFile returns a time zone file (RFC 8536) that contains only the rule. Package time parses
// rules only in such files. If it cannot parse the rule, it uses the single zone of the file, whose
// offset is invalid and therefore detectable.
func ruleFile(rule string) []byte {
	const label = "?\x00"
	header := append([]byte("TZif2"), make([]byte, 15)...)
	file := append(header, make([]byte, 6*4)...) // the counts of an empty first part
	file = append(file, header...)
	for _, count := range [...]uint32{0, 0, 0, 0, 1, uint32(len(label))} { // one zone
		file = binary.BigEndian.AppendUint32(file, count)
	}
	file = binary.BigEndian.AppendUint32(file, math.MaxInt32)
	file = append(file, 0, 0) // no daylight saving time; index of the label
	file = append(file, label...)
	return append(file, "\n"+rule+"\n"...)
}
