package shardlog

// Confirmer receives the outcome of publishes: the numbers from from to to are confirmed (ok) or
// rejected. Any goroutine may call it, and it must not block.
type Confirmer interface {
	Confirmed(from, to uint64, ok bool)
}

// Answers are outcomes not yet passed to their confirmers, with adjacent ones merged.
type Answers []answer

// answer is a range of publishes of one confirmer with one outcome.
type answer struct {
	to       Confirmer
	from, up uint64
	ok       bool
}

// Add adds the outcome of a publish.
func (l *Answers) Add(to Confirmer, seq uint64, ok bool) {
	if n := len(*l); n > 0 {
		if a := &(*l)[n-1]; a.to == to && a.ok == ok && a.up+1 == seq {
			a.up = seq
			return
		}
	}
	*l = append(*l, answer{to, seq, seq, ok})
}

// Tell passes the outcomes to the confirmers and empties the list.
func (l *Answers) Tell() {
	for i := range *l {
		a := &(*l)[i]
		a.to.Confirmed(a.from, a.up, a.ok)
	}
	l.clear()
}

// tell passes the same outcome to all confirmers.
func (l Answers) tell(ok bool) {
	for i := range l {
		a := &l[i]
		a.to.Confirmed(a.from, a.up, ok)
	}
}

func (l *Answers) clear() {
	clear(*l)
	*l = (*l)[:0]
}
