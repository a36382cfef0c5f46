package value

import (
	"encoding/binary"
	"math"
	"strings"
	"time"
)

// maxZoneSeconds is the first offset that a POSIX rule cannot have.
const maxZoneSeconds = 7 * 24 * 3600

// posixZone reads a POSIX rule: a label (letters, or <anything>) and an offset west of Greenwich;
// then the label of summer time, if there is one, perhaps its offset, and when it begins and ends.
// nil: it is none.
func posixZone(rule string) *time.Location {
	label, rest := posixLabel(rule)
	offset := rest
	if i := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("+-:0123456789", r) }); i >= 0 {
		offset, rest = rest[:i], rest[i:]
	} else {
		rest = ""
	}
	if offset == "" || strings.Contains(label, "/") { // Etc/GMT+3 is a name
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

// ruleFile is a file of the database of zones (RFC 8536) with no more in it than a rule for all
// times. Package time reads rules in such files only. Where it cannot read the rule, it takes the
// file's one zone, whose offset is none that a zone can have.
func ruleFile(rule string) []byte {
	const label = "?\x00"
	header := append([]byte("TZif2"), make([]byte, 15)...)
	file := append(header, make([]byte, 6*4)...) // the counts of a first part that is empty
	file = append(file, header...)
	for _, count := range [...]uint32{0, 0, 0, 0, 1, uint32(len(label))} { // one zone
		file = binary.BigEndian.AppendUint32(file, count)
	}
	file = binary.BigEndian.AppendUint32(file, math.MaxInt32)
	file = append(file, 0, 0) // no summer time, its label is the first
	file = append(file, label...)
	return append(file, "\n"+rule+"\n"...)
}
