package display

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Bytes formats a size for people with at most three digits: 60.2 MiB.
func Bytes(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	size, unit := float64(n)/(1<<10), 0
	for ; size >= 999.5 && unit < len(byteUnits)-1; unit++ {
		size /= 1 << 10
	}
	return strings.TrimSuffix(strconv.FormatFloat(size, 'f', decimals(size), 64), ".0") + " " + byteUnits[unit]
}

var byteUnits = []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}

// decimals returns the number of decimals for a number below 1,000.
func decimals(x float64) int {
	if x < 99.95 {
		return 1
	}
	return 0
}

// Count formats a number with a comma between thousands, in the digits before the decimal point.
func Count(number string) string {
	whole, fraction, cut := strings.Cut(number, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if cut {
		whole += "." + fraction
	}
	return sign + whole
}

// Rate formats a number of events per second: 1,234/s. Only small numbers have a decimal.
func Rate(perSecond float64) string {
	precision := 0
	if perSecond > 0 && perSecond < 9.95 {
		precision = 1
	}
	return Count(strconv.FormatFloat(perSecond, 'f', precision, 64)) + "/s"
}

// Duration formats a duration without insignificant parts: 1.204s, 42s, 5m12s, 3h4m, 12d5h.
func Duration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
}

// exactMembers are members of the API whose numbers are names, codes or positions, not amounts.
var exactMembers = map[string]bool{
	"arguments": true, "definition": true, "value": true, "id": true, "port": true, "peer_port": true, "number": true, "os_pid": true,
	"level": true, "version": true, "mod_revision": true, "lease": true, "priority": true,
}

// Amount formats a member of an object of the API for a table. The member's name determines the
// unit.
func Amount(path string, v any) string {
	number, ok := v.(json.Number)
	first, _, _ := strings.Cut(path, ".")
	last := path[strings.LastIndexByte(path, '.')+1:]
	if !ok || exactMembers[first] || exactMembers[last] {
		return Cell(v)
	}
	whole, err := number.Int64()
	switch {
	case last == "rate":
		perSecond, _ := number.Float64() //nolint:errcheck // JSON numbers are valid
		if strings.Contains(path, "_oct_") {
			return Bytes(int64(perSecond)) + "/s"
		}
		return Rate(perSecond)
	case err != nil:
	case last == "uptime":
		return Duration(time.Duration(whole) * time.Millisecond)
	case last == "connected_at":
		return time.UnixMilli(whole).UTC().Format(time.RFC3339)
	case isBytes(last):
		return Bytes(whole)
	}
	return Count(number.String())
}

// isBytes reports whether a member is a number of bytes.
func isBytes(name string) bool {
	switch name {
	case "memory", "mem_used", "mem_limit", "disk_free", "disk_free_limit", "recv_oct", "send_oct":
		return true
	}
	return strings.Contains(name, "bytes") && !strings.HasSuffix(name, "_details")
}
