package transport

import (
	"fmt"
	"time"
)

// linkSilence is for how many ticks a peer may leave pings unanswered until the links to it are
// cut. Reading, answering and sending wait for nothing but the network, however busy the disk is.
// So only a machine, process or network that has stopped is silent for so long.
const linkSilence = 5

// errSilent is why a link is cut whose peer is silent.
var errSilent = fmt.Errorf("transport: the node has not answered for %s", linkSilence*pingInterval)

// silence counts the ticks in a row without an answer of a peer. It counts ticks because a node
// that was halted itself could not hear one: that time is a single tick.
type silence struct {
	answers uint64
	ticks   int
}

// tick ends a tick. answers is that of figures. It reports whether to cut the links.
func (s *silence) tick(answers uint64) (links bool) {
	if answers != s.answers {
		*s = silence{answers: answers}
		return false
	}
	s.ticks++
	return s.ticks%linkSilence == 0
}

// watch cuts the links to a peer while it does not answer. A pong shows that both directions work:
// it comes over the peer's own link. TCP would take up to a quarter of an hour to report a dead
// connection, and up to two minutes to continue after the network has healed.
func (t *Transport) watch(p *peer) {
	ticker := time.NewTicker(t.tick)
	defer ticker.Stop()
	for s := (silence{}); ; {
		select {
		case <-p.control.ctx.Done():
			return
		case <-ticker.C:
		}
		if s.tick(p.figures.answers.Load()) {
			p.cut(errSilent)
		}
	}
}
