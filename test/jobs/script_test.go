package jobs

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// step is one line of a script. The queue is that of the script where it has one.
//
//	enqueue MID BODY [backoff=MS] [lock=MS] [update] [requeue] [reset]
//	take [count=N] [lock=MS]
//	done|retry|fail MID #N [backoff=MS]     #N: with the token that the N-th job of the script's takes had
//	extend MID #N ms=MS
//	cancel MID
//	status MID
//	advance MS
type step struct {
	verb, queue, mid, body string
	lease                  int // N of #N, from 1
	backoff, lock, ms      int64
	count                  int
	update, requeue, reset bool
}

// lease is the result of a take: the token from each side.
type lease struct {
	mid    string
	tokens []string
}

// taken is one job in the answer to a take.
type taken struct {
	mid, body, token     string
	attempt, lock, first int64
}

// side runs steps at a time given in Unix milliseconds. Answers use the words of this package.
type side interface {
	enqueue(now int64, s step) string // added, updated, already-queued, locked, backoff
	take(now int64, s step) []taken
	report(now int64, s step, token string) bool // done, retry, fail, extend: false if the token is stale
	cancel(now int64, s step) bool
	status(now int64, s step) string // status, attempts, age, ms of backoff and of lock left; "none"
}

const start = 1_800_000_000_000 // the clock of a script starts here, in Unix milliseconds

// player runs a script on several sides and compares their answers.
type player struct {
	t      *testing.T
	sides  []side
	now    int64
	leases []lease
}

func newPlayer(t *testing.T, sides ...side) *player {
	return &player{t: t, sides: sides, now: start}
}

// play returns the common answer of all sides in one line and true, or all their answers and false
// if they differ.
func (p *player) play(s step) (string, bool) {
	if s.verb == "advance" {
		p.now += s.ms
		return "", true
	}
	answers := make([]string, len(p.sides))
	var leases []lease
	for n, side := range p.sides {
		var jobs []taken
		answers[n], jobs = p.ask(side, n, s)
		for at, job := range jobs {
			if at == len(leases) {
				leases = append(leases, lease{mid: job.mid})
			}
			leases[at].tokens = append(leases[at].tokens, job.token)
		}
	}
	for n, answer := range answers {
		if answer != answers[0] {
			return fmt.Sprintf("%q and %q", answers[0], answers[n]), false
		}
	}
	p.leases = append(p.leases, leases...)
	return answers[0], true
}

// ask runs a step on side number n.
func (p *player) ask(on side, n int, s step) (answer string, jobs []taken) {
	switch s.verb {
	case "enqueue":
		return on.enqueue(p.now, s), nil
	case "take":
		var words []string
		jobs = on.take(p.now, s)
		for at, job := range jobs {
			words = append(words, fmt.Sprintf("#%d %s=%s attempt=%d lock=%d age=%d", len(p.leases)+at+1, job.mid, job.body, job.attempt, job.lock, p.now-job.first))
		}
		if len(words) == 0 {
			return "nothing", nil
		}
		return strings.Join(words, ", "), jobs
	case "done", "retry", "fail", "extend":
		if on.report(p.now, s, p.leases[s.lease-1].tokens[n]) {
			return "ok", nil
		}
		return "stale", nil
	case "cancel":
		if on.cancel(p.now, s) {
			return "cancelled", nil
		}
		return "refused", nil
	case "status":
		return on.status(p.now, s), nil
	}
	p.t.Fatalf("unknown verb %q", s.verb)
	return "", nil
}

// parse parses a line of a script.
func parse(line string) (s step, err error) {
	words := strings.Fields(line)
	s = step{verb: words[0], count: 1}
	place := 0
	for _, word := range words[1:] {
		name, value, valued := strings.Cut(word, "=")
		number, bad := strconv.ParseInt(strings.TrimPrefix(value, "#"), 10, 64)
		switch {
		case valued && bad != nil:
			return s, fmt.Errorf("%s: no number in %s", line, word)
		case valued && name == "backoff":
			s.backoff = number
		case valued && name == "lock":
			s.lock = number
		case valued && name == "ms":
			s.ms = number
		case valued && name == "count":
			s.count = int(number)
		case word == "update":
			s.update = true
		case word == "requeue":
			s.requeue = true
		case word == "reset":
			s.reset = true
		case strings.HasPrefix(word, "#"):
			s.lease, err = strconv.Atoi(word[1:])
		case s.verb == "advance":
			s.ms, err = strconv.ParseInt(word, 10, 64)
		case place < 2:
			*[]*string{&s.mid, &s.body}[place] = word
			place++
		default:
			return s, fmt.Errorf("%s: what is %s?", line, word)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s step) String() string {
	words := []string{s.verb}
	if s.verb == "advance" {
		return fmt.Sprint("advance ", s.ms)
	}
	for _, word := range []string{s.queue, s.mid, s.body} {
		if word != "" {
			words = append(words, word)
		}
	}
	if s.lease != 0 {
		words = append(words, fmt.Sprint("#", s.lease))
	}
	for _, option := range []struct {
		name  string
		value int64
	}{{"backoff", s.backoff}, {"lock", s.lock}, {"ms", s.ms}} {
		if option.value != 0 {
			words = append(words, fmt.Sprint(option.name, "=", option.value))
		}
	}
	if s.verb == "take" {
		words = append(words, fmt.Sprint("count=", s.count))
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"update", s.update}, {"requeue", s.requeue}, {"reset", s.reset}} {
		if flag.set {
			words = append(words, flag.name)
		}
	}
	return strings.Join(words, " ")
}
