package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
)

// duel plays the same scripts to RabbitMQ and to Fiveways.
type duel struct {
	rabbit, fiveways string // addresses
	expected         []difference
	runs             atomic.Int64
}

// playLines plays a script and returns the answers to each line.
func (d *duel) playLines(addr string, script []string) ([][]string, error) {
	r := newRun(addr, int(d.runs.Add(1)))
	defer r.hangUp()
	var answers [][]string
	for _, line := range script {
		if err := r.play(line); err != nil {
			return nil, err
		}
		answers = append(answers, free(r.take()))
	}
	r.clean()
	return answers, nil
}

// replyTag matches the delivery tag of a direct reply.
var replyTag = regexp.MustCompile(`delivery-tag=\d+( .*routing-key="amq\.rabbitmq\.reply-to)`)

// free replaces what a broker may choose in its answers. The generator avoids most of it; what
// remains is the delivery tag of a direct reply, which acknowledges nothing.
func free(answers []string) []string {
	for i, a := range answers {
		answers[i] = replyTag.ReplaceAllString(a, "delivery-tag=*$1")
	}
	return answers
}

// generate generates a script of this many lines while RabbitMQ plays it.
func (d *duel) generate(seed uint64, lines int) (script []string, answers [][]string, err error) {
	r := newRun(d.rabbit, int(d.runs.Add(1)))
	defer r.hangUp()
	g := newGenerator(seed, r)
	for len(script) < lines || len(g.planned) > 0 {
		line := g.next()
		script = append(script, line)
		if err := r.play(line); err != nil {
			return script, nil, err
		}
		answers = append(answers, free(r.take()))
	}
	r.clean()
	return script, answers, nil
}

// verdict is the result of a script.
type verdict struct {
	same     bool
	expected *difference // the expected difference that ended the comparison
	line     int         // the line that was answered differently
	clash    string      // the answers to it
	kind     string      // of the answers: differences of one kind most likely have one cause
}

// judge compares the answers up to the first difference.
func (d *duel) judge(script []string, rabbit, fiveways [][]string) verdict {
	for i := range rabbit {
		if slices.Equal(rabbit[i], fiveways[i]) {
			continue
		}
		for k := range d.expected {
			if d.expected[k].fits(rabbit[i], fiveways[i]) {
				return verdict{same: true, expected: &d.expected[k], line: i}
			}
		}
		return verdict{line: i, clash: clash(script[i], rabbit[i], fiveways[i]), kind: kindOf(rabbit[i]) + " / " + kindOf(fiveways[i])}
	}
	return verdict{same: true, line: len(rabbit)}
}

// clash formats the answers to one line.
func clash(line string, rabbit, fiveways []string) string {
	return fmt.Sprintf("%s\n%s\n%s\n%s?\n%s", line, answersMark, strings.Join(rabbit, "\n"), oursMark, strings.Join(fiveways, "\n"))
}

// answerKind matches the method and the code of an answer, or otherwise its beginning.
var answerKind = regexp.MustCompile(`^(?:[A-Z] )?(?:\d+ )?([\w.-]+)(?: reply-code=(\d+))?`)

// kindOf summarizes answers: the distinct kinds in them.
func kindOf(answers []string) string {
	var kinds []string
	for _, a := range answers {
		kinds = append(kinds, strings.Join(answerKind.FindStringSubmatch(a)[1:], ""))
	}
	slices.Sort(kinds)
	return strings.Join(slices.Compact(kinds), " ")
}

// differs plays a script to both brokers.
func (d *duel) differs(script []string) (verdict, error) {
	rabbit, err := d.playLines(d.rabbit, script)
	if err != nil {
		return verdict{}, err
	}
	fiveways, err := d.playLines(d.fiveways, script)
	if err != nil {
		return verdict{}, err
	}
	return d.judge(script, rabbit, fiveways), nil
}

// sightings is how often a script is repeated to see whether its difference is reproducible.
const sightings = 3

// shrink removes lines, then words, as long as the brokers still answer differently. The script
// that it returns ends with the line that shows the difference. It is nil if the difference is not
// reproducible.
func (d *duel) shrink(script []string, kind string) []string {
	differs := func(script []string) (cut []string, ok bool) {
		v, err := d.differs(script)
		if err != nil || v.same || v.kind != kind {
			return nil, false
		}
		return script[:v.line+1], true
	}
	cut, ok := differs(script)
	for range sightings - 1 {
		if !ok {
			cut, ok = differs(script)
		}
	}
	if !ok {
		return nil
	}
	script = cut
	for size := len(script) / 2; size > 0; size /= 2 {
		for from := 1; from < len(script); { // the first line is settle
			without := slices.Delete(slices.Clone(script), from, min(from+size, len(script)))
			if cut, ok := differs(without); ok {
				script = cut
			} else {
				from += size
			}
		}
	}
	for i := 1; i < len(script); i++ {
		for w := len(lineWords(script[i])) - 1; w > 0 && i < len(script); w-- {
			ws := lineWords(script[i])
			if w >= len(ws) {
				continue
			}
			shorter := slices.Clone(script)
			shorter[i] = strings.Join(slices.Delete(ws, w, w+1), " ")
			if cut, ok := differs(shorter); ok {
				script = cut
			}
		}
	}
	return script
}

// lineWords splits a line at spaces outside quotes and brackets.
func lineWords(line string) (words []string) {
	depth, quoted, start := 0, false, 0
	for i, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ' ' && depth == 0:
			words = append(words, line[start:i])
			start = i + 1
		}
	}
	return append(words, line[start:])
}

// describe formats a script as a case of testdata, with both answers to the line that shows the
// difference.
func (d *duel) describe(script []string) string {
	rabbit, err := d.playLines(d.rabbit, script)
	if err != nil {
		return err.Error()
	}
	fiveways, err := d.playLines(d.fiveways, script)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%srandom\n%s\n%s\n%s\n%s?\n%s", caseMark, strings.Join(script, "\n"), answersMark,
		strings.Join(slices.Concat(rabbit...), "\n"), oursMark, strings.Join(slices.Concat(fiveways...), "\n"))
}
