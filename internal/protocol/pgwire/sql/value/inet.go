package value

import (
	"net/netip"
	"strings"
)

// parseInet parses an address with an optional prefix length. Inet values are texts and have no
// arithmetic.
func parseInet(s string) (Datum, error) {
	text := strings.TrimSpace(s)
	if address, bits, ok := strings.Cut(text, "/"); ok {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, badText(Inet, s)
		}
		if bits == "32" && prefix.Addr().Is4() || bits == "128" && prefix.Addr().Is6() {
			return parseInet(address)
		}
		return prefix.String(), nil
	}
	address, err := netip.ParseAddr(text)
	if err != nil || address.Zone() != "" {
		return nil, badText(Inet, s)
	}
	return address.String(), nil
}
