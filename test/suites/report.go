package suites

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"strings"
)

// outcome is how a case ended.
type outcome string

const (
	passed  outcome = "passed"
	failed  outcome = "failed"
	skipped outcome = "skipped" // by the suite itself
)

// wholeRun is the name of a failure that belongs to no case, such as goroutines left behind.
const wholeRun = "(the whole run)"

// result is the result of one case of a suite, with its output if it failed.
type result struct {
	outcome outcome
	text    string
}

// readReport reads a suite's report: JUnit XML, or the lines of `go test -json`.
func readReport(file string) (map[string]result, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("suites: report: %w", err)
	}
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) {
		return readGo(b)
	}
	return readJUnit(b)
}

// readGo reads the tests of a `go test -json` run. Subtests count as part of their test.
func readGo(b []byte) (map[string]result, error) {
	results, output := map[string]result{}, map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct{ Action, Test, Output string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("suites: report: %w", err)
		}
		name, _, _ := strings.Cut(e.Test, "/")
		switch {
		case e.Action == "output":
			output[name] += e.Output
		case strings.Contains(e.Test, "/"):
		case e.Action == "pass" && name != "":
			results[name] = result{outcome: passed}
		case e.Action == "skip" && name != "":
			results[name] = result{outcome: skipped}
		case e.Action == "fail":
			if name == "" {
				results[wholeRun] = result{failed, output[""]}
				continue
			}
			results[name] = result{failed, output[name]}
		}
	}
	if whole, ok := results[wholeRun]; ok && !strings.Contains(whole.text, "goleak") && len(results) > 1 {
		delete(results, wholeRun) // it only says that a case failed
	}
	return results, lines.Err()
}

// node is any element of a JUnit file: testsuites, testsuite, testcase.
type node struct {
	Name      string   `xml:"name,attr"`
	ClassName string   `xml:"classname,attr"`
	XMLName   xml.Name `xml:""`
	Children  []node   `xml:",any"`
	Message   string   `xml:"message,attr"`
	Text      string   `xml:",chardata"`
}

func readJUnit(b []byte) (map[string]result, error) {
	var root node
	if err := xml.Unmarshal(b, &root); err != nil {
		return nil, fmt.Errorf("suites: report: %w", err)
	}
	results := map[string]result{}
	root.collect("", results)
	return results, nil
}

// collect adds the cases below n. A case without a class is named after the suites around it. A
// case that occurs twice has failed if one of the two has.
func (n *node) collect(path string, results map[string]result) {
	for i := range n.Children {
		child := &n.Children[i]
		switch child.XMLName.Local {
		case "testsuite":
			child.collect(path+child.Name+" > ", results)
		case "testcase":
			name := child.ClassName + " " + child.Name
			if child.ClassName == "test" || child.ClassName == "" { // as node writes it
				name = path + child.Name
			}
			name = strings.Join(strings.Fields(name), " ")
			if results[name].outcome != failed {
				results[name] = child.result()
			}
		}
	}
}

func (n *node) result() result {
	for _, c := range n.Children {
		switch c.XMLName.Local {
		case "failure", "error":
			return result{failed, c.Message + "\n" + c.Text + n.said()}
		case "skipped":
			return result{outcome: skipped}
		}
	}
	return result{outcome: passed}
}

// said returns the output of the case, in which some suites have the reason.
func (n *node) said() string {
	for _, c := range n.Children {
		if c.XMLName.Local == "system-out" {
			return c.Text
		}
	}
	return ""
}
