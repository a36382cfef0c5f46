package transport

import (
	"fmt"
	"time"
)

// linkSilence is for how many ticks a peer may leave pings unanswered until the links to it are
// cut. Reading, answering and sending wait for nothing but the network, however busy the disk is.
// So only a machine, process or network that has stopped is silent for so long.
const linkSilence = 5

// streamSilence is the same for streams. A stream cannot be dialed again, and the session of a
// client ends with it, so it survives a shorter interruption.
const streamSilence = 2 * linkSilence

// errSilent is why a link is cut whose peer is silent.
var errSilent = fmt.Errorf("transport: the node has not answered for %s", linkSilence*pingInterval)

// silence counts the ticks in a row without an answer of a peer. It counts ticks because a node
// that was halted itself could not hear one: that time is a single tick.
type silence struct {
	pongs, dials uint64
	ticks        int // since the last pong
	fresh        int // since the last pong, or since the control link was connected
}

// tick ends a tick. pongs and dials are those of figures. It reports whether to cut the links, and
// whether to close the streams.
func (s *silence) tick(pongs, dials uint64) (links, streams bool) {
	s.ticks++
	s.fresh++
	if dials != s.dials {
		s.dials, s.fresh = dials, 0
	}
	if pongs != s.pongs {
		s.pongs, s.ticks, s.fresh = pongs, 0, 0
	}
	return s.fresh > 0 && s.fresh%linkSilence == 0, s.ticks > 0 && s.ticks%streamSilence == 0
}

// watch cuts the links to a peer while it does not answer, and later closes the streams: clients of
// a follower that is gone must not keep their places in line. A pong shows that both directions
// work, because it comes over the peer's own link. TCP would take up to a quarter of an hour to
// report a dead connection, and up to two minutes to continue after the network has healed.
func (t *Transport) watch(p *peer) {
	ticker := time.NewTicker(t.tick)
	defer ticker.Stop()
	for s := (silence{}); ; {
		select {
		case <-p.control.ctx.Done():
			return
		case <-ticker.C:
		}
		links, streams := s.tick(p.figures.pongs.Load(), p.figures.dials.Load())
		if links {
			p.cut(errSilent)
		}
		if streams {
			t.closeStreams(p)
		}
	}
}

// closeStreams closes the connections that a silent peer has opened, and the streams to it.
func (t *Transport) closeStreams(p *peer) {
	t.mu.Lock()
	closed := t.drop(p.id)
	t.mu.Unlock()
	if closed > 0 {
		t.complain(p.id, "cluster: closed the connections of a node that does not answer", "node", p.id, "connections", closed)
	}
}
