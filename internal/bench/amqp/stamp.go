package amqp

import (
	"encoding/binary"
	"time"
)

// stampBytes is the length of the stamp at the start of a body: the id of the run, and when the
// message was due, in ns since the start of the run.
const stampBytes = 16

func putStamp(body []byte, run uint64, due time.Duration) {
	binary.BigEndian.PutUint64(body, run)
	binary.BigEndian.PutUint64(body[8:], uint64(due))
}

// readStamp reads the stamp of a body. ok is false for a body of another run or program.
func readStamp(body []byte, run uint64) (due time.Duration, ok bool) {
	if len(body) < stampBytes || binary.BigEndian.Uint64(body) != run {
		return 0, false
	}
	return time.Duration(binary.BigEndian.Uint64(body[8:])), true
}
