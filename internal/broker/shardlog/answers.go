package shardlog

// Confirmer is told the outcome of publishes: the numbers from from to to are confirmed (ok) or
// rejected. Any goroutine may call it, and it must not block.
type Confirmer interface {
	Confirmed(from, to uint64, ok bool)
}

// Answers are outcomes that confirmers have not been told yet, with neighbours joined.
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

// Tell tells the confirmers the outcomes, and forgets these.
func (l *Answers) Tell() {
	for i := range *l {
		a := &(*l)[i]
		a.to.Confirmed(a.from, a.up, a.ok)
	}
	l.clear()
}

// tell tells the confirmers one outcome for all.
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
