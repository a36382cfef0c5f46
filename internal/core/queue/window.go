package queue

// Window calls fn for n of the ready messages, including parked ones, in delivery order, starting
// at index place. It walks from the nearer end, by chunks rather than messages.
func (s *Deliveries) Window(place, n int, fn func(*Item)) {
	if n <= 0 || place >= s.Ready() {
		return
	}
	find := s.placeFromFirst
	if place > s.Ready()/2 {
		find = s.placeFromLast
	}
	lane, i, skip := find(place)
	w := getWalker()
	defer w.release()
	for ; lane < len(s.lanes); lane++ {
		l := s.lanes[lane]
		for i = max(i, l.head); i < len(l.row); i++ {
			c := l.row[i].chunk
			if c == nil || c.waiting() == 0 {
				continue
			}
			for w.start(c); w.next(); {
				if st := c.status(w.slot); st != Ready && st != Parked {
					continue
				}
				if skip > 0 {
					skip--
					continue
				}
				fn(w.it)
				if n--; n == 0 {
					return
				}
			}
		}
		i = 0
	}
}

// waiting returns the number of messages that are ready or parked.
func (c *chunk) waiting() int { return int(c.ready) + c.state[Parked-1].count() }

// placeFromFirst finds the chunk with the ready or parked message at an index, and how many such
// messages precede it in the chunk.
func (s *Deliveries) placeFromFirst(place int) (lane, row, skip int) {
	for lane, l := range s.lanes {
		for i := l.head; i < len(l.row); i++ {
			if c := l.row[i].chunk; c != nil {
				n := c.waiting()
				if place < n {
					return lane, i, place
				}
				place -= n
			}
		}
	}
	return len(s.lanes), 0, 0
}

// placeFromLast is placeFromFirst from the other end.
func (s *Deliveries) placeFromLast(place int) (lane, row, skip int) {
	behind := s.Ready() - place // including the one at place
	for lane := len(s.lanes) - 1; lane >= 0; lane-- {
		l := s.lanes[lane]
		for i := len(l.row) - 1; i >= l.head; i-- {
			if c := l.row[i].chunk; c != nil {
				n := c.waiting()
				if behind <= n {
					return lane, i, n - behind
				}
				behind -= n
			}
		}
	}
	return len(s.lanes), 0, 0
}
