package value

import (
	"net/netip"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
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

// The address families of the binary format.
const (
	inetIPv4 = 2
	inetIPv6 = 3
)

// appendBinaryInet appends the family, the length of the prefix, 0 for not cidr, and the address
// with its length.
func appendBinaryInet(dst []byte, s string) ([]byte, error) {
	prefix, err := netip.ParsePrefix(s)
	if err != nil { // no prefix: the whole address
		address, err := netip.ParseAddr(s)
		if err != nil {
			return dst, badText(Inet, s)
		}
		prefix = netip.PrefixFrom(address, address.BitLen())
	}
	family := byte(inetIPv6)
	if prefix.Addr().Is4() {
		family = inetIPv4
	}
	address := prefix.Addr().AsSlice()
	return append(append(dst, family, byte(prefix.Bits()), 0, byte(len(address))), address...), nil
}

func parseBinaryInet(b []byte) (Datum, error) {
	const header = 4
	size := 0
	switch {
	case len(b) == 0:
		return nil, errNoByte()
	case b[0] == inetIPv4:
		size = 4
	case b[0] == inetIPv6:
		size = 16
	default:
		return nil, pgerror.New("22P03", "invalid address family in external \"inet\" value")
	}
	switch {
	case len(b) > 1 && int(b[1]) > 8*size:
		return nil, pgerror.New("22P03", "invalid bits in external \"inet\" value")
	case len(b) >= header && int(b[3]) != size:
		return nil, pgerror.New("22P03", "invalid length in external \"inet\" value")
	case len(b) < header+size:
		return nil, errNoByte()
	case len(b) > header+size:
		return nil, errTrailing()
	}
	address, _ := netip.AddrFromSlice(b[header:])
	if int(b[1]) == address.BitLen() {
		return address.String(), nil
	}
	return netip.PrefixFrom(address, int(b[1])).String(), nil
}
