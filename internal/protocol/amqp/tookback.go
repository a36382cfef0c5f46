package amqp

import (
	"slices"
	"sort"
)

// tookBack remembers the tags of deliveries that were returned to their queues because they were
// late, so that a client may still settle them, without effect. It is bounded: the lowest tags are
// dropped first.
type tookBack struct {
	runs []tagRun // ascending, not adjacent
}

type tagRun struct{ from, to uint64 }

// maxTagRuns bounds tookBack.
const maxTagRuns = 1024

// after returns the index of the first run that begins after tag.
func (t *tookBack) after(tag uint64) int {
	return sort.Search(len(t.runs), func(i int) bool { return t.runs[i].from > tag })
}

// add adds a tag that is not in the set.
func (t *tookBack) add(tag uint64) {
	i := t.after(tag)
	before := i > 0 && t.runs[i-1].to+1 == tag
	behind := i < len(t.runs) && t.runs[i].from == tag+1
	switch {
	case before && behind:
		t.runs[i-1].to = t.runs[i].to
		t.runs = slices.Delete(t.runs, i, i+1)
	case before:
		t.runs[i-1].to = tag
	case behind:
		t.runs[i].from = tag
	default:
		t.insert(i, tagRun{tag, tag})
	}
}

func (t *tookBack) insert(i int, r tagRun) {
	t.runs = slices.Insert(t.runs, i, r)
	if len(t.runs) > maxTagRuns {
		t.runs = slices.Delete(t.runs, 0, 1)
	}
}

// take removes a tag and reports whether it was in the set.
func (t *tookBack) take(tag uint64) bool {
	i := t.after(tag) - 1
	if i < 0 || t.runs[i].to < tag {
		return false
	}
	r := t.runs[i]
	switch {
	case r.from == r.to:
		t.runs = slices.Delete(t.runs, i, i+1)
	case r.from == tag:
		t.runs[i].from++
	case r.to == tag:
		t.runs[i].to--
	default:
		t.runs[i].to = tag - 1
		t.insert(i+1, tagRun{tag + 1, r.to})
	}
	return true
}

// takeTo removes all tags up to tag; 0 removes all.
func (t *tookBack) takeTo(tag uint64) {
	if tag == 0 {
		t.runs = nil
		return
	}
	t.runs = t.runs[:copy(t.runs, t.runs[sort.Search(len(t.runs), func(i int) bool { return t.runs[i].to > tag }):])]
	if len(t.runs) > 0 {
		t.runs[0].from = max(t.runs[0].from, tag+1)
	}
}
