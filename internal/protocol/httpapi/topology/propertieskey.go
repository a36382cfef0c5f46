package topology

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"net/url"
	"strings"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// propertiesKey returns the key that identifies a binding between two ends in a path: the routing
// key, followed by ~ and a hash if there are arguments. It matches RabbitMQ except for the hash,
// which is specific to Erlang and which no client computes.
func propertiesKey(b *catalog.BindSpec) string {
	key := strings.ReplaceAll(url.QueryEscape(b.Key), "~", "%7E")
	switch {
	case len(b.Args) > 0:
		return key + "~" + argumentsHash(rest.Table(b.Args))
	case key == "":
		return "~"
	}
	return key
}

// argumentsHash returns six letters.
func argumentsHash(args rest.Table) string {
	text, err := json.Marshal(args)
	if err != nil {
		panic("topology: arguments cannot be encoded: " + err.Error()) // a Table can
	}
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(text)))
}
