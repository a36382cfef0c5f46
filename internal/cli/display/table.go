package display

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Table prints rows under a heading, whose columns are separated by tabs. A column whose name
// begins with > is right-aligned, as numbers are. Names and messages are untrusted, so their
// control characters, which a terminal would interpret, are shown as �.
func Table(out io.Writer, heading string, rows func(row func(...any))) error {
	names := strings.Split(heading, "\t")
	t := table{right: make([]bool, len(names)), widths: make([]int, len(names))}
	for i, name := range names {
		names[i], t.right[i] = strings.CutPrefix(name, ">")
	}
	t.add(names)
	rows(func(cells ...any) {
		line := make([]string, len(cells))
		for i, c := range cells {
			line[i] = strings.Map(Shown, fmt.Sprint(c))
		}
		t.add(line)
	})
	return t.print(out)
}

type table struct {
	right  []bool
	widths []int // in characters
	lines  [][]string
}

func (t *table) add(line []string) {
	for i, text := range line {
		t.widths[i] = max(t.widths[i], utf8.RuneCountInString(text))
	}
	t.lines = append(t.lines, line)
}

func (t *table) print(out io.Writer) error {
	w := bufio.NewWriter(out)
	for _, line := range t.lines {
		cells := make([]string, len(line))
		for i, text := range line {
			width := t.widths[i]
			if !t.right[i] {
				width = -width
			}
			cells[i] = fmt.Sprintf("%*s", width, text)
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "  "), " "))
	}
	return w.Flush()
}
