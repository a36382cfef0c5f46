package loads

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/crash/history"
)

// publishing returns the persistent message that carries id. Its body is a line with the id and
// then random bytes, which sometimes span several frames.
func publishing(id history.MsgID, rng *rand.Rand) amqp.Publishing {
	size := rng.IntN(1000)
	if rng.IntN(200) == 0 {
		size = 300_000
	}
	return sized(id, size, rng)
}

// sized is publishing with a body of the given size.
func sized(id history.MsgID, size int, rng *rand.Rand) amqp.Publishing {
	body := make([]byte, size)
	for i := range body {
		body[i] = byte(rng.Uint32())
	}
	head := fmt.Appendf(nil, "%s %d %08x\n", id.Publisher, id.Seq, crc32.ChecksumIEEE(body))
	return amqp.Publishing{DeliveryMode: amqp.Persistent, Body: append(head, body...)}
}

// errDamaged is returned for a delivered body that differs from the published one.
var errDamaged = errors.New("damaged message")

// parse returns the id of a delivered message; the error is errDamaged.
func parse(delivered []byte) (id history.MsgID, err error) {
	head, body, _ := bytes.Cut(delivered, []byte("\n"))
	var sum uint32
	if _, err := fmt.Sscanf(string(head), "%s %d %08x", &id.Publisher, &id.Seq, &sum); err != nil {
		return id, fmt.Errorf("%w: body begins %q: %v", errDamaged, head[:min(len(head), 40)], err)
	}
	if got := crc32.ChecksumIEEE(body); got != sum {
		return id, fmt.Errorf("%w: checksum of the %d bytes of %s", errDamaged, len(body), id)
	}
	return id, nil
}
