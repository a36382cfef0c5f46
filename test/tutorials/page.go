package tutorials

import (
	"regexp"
	"strings"
)

// step is a file to write, or a command to run with the output that the page shows.
type step struct {
	file, content   string
	command, output string
	interrupted     bool // the reader ends the command with ^C, which follows the output
	at              int  // where the output begins in the page
}

// fileName matches the first line of a block that is a file: its name in a comment.
var fileName = regexp.MustCompile(`^(?:#|//|--) ([\w.-]+\.\w+)\n`)

const interrupt = "^C\n"

// steps returns the steps of a page in order. A ```console block has commands after "$ ", which
// continue on lines after "> ", and their output. Other blocks are files, or only for the reader.
func steps(text string) (all []*step) {
	for at := 0; ; {
		begin := strings.Index(text[at:], "\n```")
		if begin < 0 {
			return all
		}
		begin += at + len("\n```")
		kind, _, _ := strings.Cut(text[begin:], "\n")
		begin += len(kind) + 1
		end := begin + strings.Index(text[begin-1:], "\n```")
		block := text[begin:end]
		if name := fileName.FindStringSubmatch(block); name != nil {
			all = append(all, &step{file: name[1], content: block})
		} else if kind == "console" {
			all = append(all, commands(block, begin)...)
		}
		at = end
	}
}

// commands returns the commands of a block that begins at this place of the page.
func commands(block string, at int) (all []*step) {
	for line := range strings.Lines(block) {
		at += len(line)
		command, typed := strings.CutPrefix(line, "$ ")
		more, goesOn := strings.CutPrefix(line, "> ")
		switch {
		case typed:
			all = append(all, &step{command: command, at: at})
		case len(all) == 0:
		case goesOn && all[len(all)-1].output == "":
			last := all[len(all)-1]
			last.command, last.at = last.command+more, at
		case line == interrupt:
			all[len(all)-1].interrupted = true
		default:
			all[len(all)-1].output += line
		}
	}
	return all
}

// matches reports whether text matches the page's pattern, in which … stands for anything within a
// line.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "…")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile(`^` + strings.Join(parts, `.*`) + `$`).MatchString(text)
}
