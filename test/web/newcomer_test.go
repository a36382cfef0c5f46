package web

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// answers are the texts that the page shows after a button with that label has been pressed.
var answers = map[string]string{
	"Create queue": "Queue orders created.", "Publish": "Published: it is in a queue.", "Take one": "Taken: it is leased to you for one minute.",
	"Acknowledge": "Acknowledged: the message is removed.",
}

// TestNewcomerFollowsTheReadme follows the README. Its words in italics are labels to press, in
// order, and the first word in code is the name of the queue.
func TestNewcomerFollowsTheReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	must(t, err)
	_, after, _ := strings.Cut(string(text), "## In the browser\n")
	section, _, _ := strings.Cut(after, "\n## ")
	_, steps, found := strings.Cut(section, "\n1. ")
	if !found {
		t.Fatal("README.md has no steps below \"In the browser\"")
	}
	name := regexp.MustCompile("the name `(.*?)`").FindStringSubmatch(steps)[1]
	labels := regexp.MustCompile(`\*([^*]+)\*`).FindAllStringSubmatch(steps, -1)

	p := open(t)
	p.login()
	p.showView("overview")
	p.sees(`!document.body.innerText.includes("Needs attention")`) // the broker is empty
	for _, label := range labels {
		if label[1] == "Create queue" {
			p.fill("New queue", "Name", name)
		}
		p.press(label[1])
		p.reads(answers[label[1]])
	}
	if len(labels) != 6 {
		t.Errorf("the way has %d steps", len(labels))
	}
}
