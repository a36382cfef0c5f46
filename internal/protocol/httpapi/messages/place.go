package messages

import (
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// place is the position of a message: the id of the queue, which is unique even if the name is
// reused, and a position in it. Its text form is the id of the message.
type place struct {
	queue  uint64
	handle queue.Handle
}

const placeBase = 36

func (p place) String() string {
	return strconv.FormatUint(p.queue, placeBase) + "-" + strconv.FormatUint(uint64(p.handle), placeBase)
}

var errNoPlace = rest.BadRequest("invalid message id: use an id from a listing")

func parsePlace(text string) (place, error) {
	q, h, ok := strings.Cut(text, "-")
	queueID, err1 := strconv.ParseUint(q, placeBase, 64)
	handle, err2 := strconv.ParseUint(h, placeBase, 64)
	if !ok || err1 != nil || err2 != nil || queue.Handle(handle).Seq() == 0 {
		return place{}, errNoPlace
	}
	return place{queueID, queue.Handle(handle)}, nil
}
