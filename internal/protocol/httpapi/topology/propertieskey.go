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

// propertiesKey tells the bindings between two ends apart, in a path: by the routing key and,
// behind a ~, by the arguments. As RabbitMQ has it, but for the hash of arguments, which is that of
// Erlang there: no client knows how it comes about.
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

// argumentsHash is six letters.
func argumentsHash(args rest.Table) string {
	text, err := json.Marshal(args)
	if err != nil {
		panic("topology: arguments cannot be encoded: " + err.Error()) // a Table can
	}
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(text)))
}
