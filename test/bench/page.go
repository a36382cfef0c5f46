package main

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// notes has the texts of the page: the introduction, and what each part measures.
//
//go:embed notes
var notes embed.FS

// section is a part of the page. A section that was not measured stays as it was.
type section struct {
	part    part
	heading string
	cases   func() []benchCase
}

var sections = []section{
	{partAMQP, "AMQP 0-9-1 beside RabbitMQ", amqpCases},
	{partSQL, "SQL beside PostgreSQL with the native schema", sqlCases},
	{partJobs, "Jobs and lists beside Redis", jobsCases},
	{partEtcd, "Queues and keys beside etcd", etcdCases},
	{partSemaphore, "Task semaphores beside a sweep over tables in PostgreSQL", semaphoreCases},
	{partManagement, "The management API beside RabbitMQ's", managementCases},
	{partDisk, "The disk", diskCases},
}

// savePage writes docs/benchmarks.md. What this run has not measured stays.
func (r *report) savePage(file string, now time.Time) error {
	old, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	page, err := r.page(string(old), now)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(page), 0o644)
}

// page returns the page old, updated with what this run has measured.
func (r *report) page(old string, now time.Time) (string, error) {
	intro, err := notes.ReadFile("notes/intro.md")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.Write(intro)
	for _, s := range sections {
		text := s.in(old)
		if results := r.results(s.part); len(results) > 0 {
			if text, err = r.sectionText(s, results, text, now); err != nil {
				return "", err
			}
		}
		if text != "" {
			fmt.Fprintf(&b, "\n%s%s%s\n", s.begin(), text, s.end())
		}
	}
	return b.String(), nil
}

func (s section) begin() string { return "<!-- " + string(s.part) + " -->\n" }
func (s section) end() string   { return "<!-- end of " + string(s.part) + " -->" }

// in returns the section's text in a page, or "" if it has none.
func (s section) in(page string) string {
	_, rest, _ := strings.Cut(page, s.begin())
	text, _, found := strings.Cut(rest, s.end())
	if !found {
		return ""
	}
	return text
}

// sectionText returns the text of a section with the rows of results. old is its text so far.
func (r *report) sectionText(s section, results []*result, old string, now time.Time) (string, error) {
	head := tableHead(results[0].brokers)
	kept, err := rowsIn(old, head)
	if err != nil {
		return "", err
	}
	measured, err := notes.ReadFile("notes/" + string(s.part) + ".md")
	if err != nil {
		return "", err
	}
	var b, table strings.Builder
	table.WriteString(head)
	for _, c := range allCases() {
		i := slices.IndexFunc(results, func(res *result) bool { return res.Case == c.name })
		switch {
		case i >= 0:
			table.WriteString(results[i].rows())
			delete(kept, c.title)
		case c.part == s.part:
			table.WriteString(kept[c.title])
		}
	}
	fmt.Fprintf(&b, "## %s\n\n%s", s.heading, r.run(results, now))
	if len(kept) > 0 {
		b.WriteString(runsBefore(old, results))
	}
	b.WriteString("\n" + table.String())
	writeFailures(&b, results)
	fmt.Fprintf(&b, "\n%s", measured)
	return b.String(), nil
}

// run describes which cases this run has measured, and how.
func (r *report) run(results []*result, now time.Time) string {
	var cases, servers []string
	for _, res := range results {
		cases = append(cases, res.Case)
	}
	for _, name := range results[0].brokers {
		servers = append(servers, strings.TrimSpace(name+" "+r.Versions[name]))
	}
	return fmt.Sprintf("- %s: %s, %s; %s; `%s` (%s)\n", strings.Join(cases, ", "), now.UTC().Format(time.DateOnly), r.Machine,
		strings.Join(servers, ", "), r.Command, r.Settings)
}

// runsBefore returns the runs of a section without the cases that are measured again.
func runsBefore(old string, results []*result) string {
	var b strings.Builder
	for line := range strings.Lines(old) {
		names, rest, isRun := strings.Cut(strings.TrimPrefix(line, "- "), ": ")
		if strings.HasPrefix(line, "### ") {
			break
		}
		if !isRun || !strings.HasPrefix(line, "- ") {
			continue
		}
		left := slices.DeleteFunc(strings.Split(names, ", "), func(name string) bool {
			return slices.ContainsFunc(results, func(res *result) bool { return res.Case == name })
		})
		if len(left) > 0 {
			fmt.Fprintf(&b, "- %s: %s", strings.Join(left, ", "), rest)
		}
	}
	return b.String()
}

// errColumns is returned for a table that cannot take the rows of a run.
var errColumns = errors.New("bench: the table on the page has other columns: measure all of its cases")

// rowsIn returns the rows of a section's table by the title of their case. It returns errColumns if
// the table does not begin with head.
func rowsIn(section, head string) (map[string]string, error) {
	rows := map[string]string{}
	if section == "" {
		return rows, nil
	}
	_, table, ok := strings.Cut(section, head)
	if !ok {
		return nil, errColumns
	}
	title := ""
	for line := range strings.Lines(table) {
		first, _, isRow := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		if !isRow || !strings.HasPrefix(line, "| ") {
			break
		}
		if first = strings.TrimSpace(first); first != "" {
			title = first
		}
		rows[title] += line
	}
	return rows, nil
}
