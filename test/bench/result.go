package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// result holds everything that one case measured.
type result struct {
	Case    string                          `json:"case"`
	Title   string                          `json:"title"`
	Samples map[string]map[string][]float64 `json:"samples"` // broker -> metric -> one value per repetition
	Failed  map[string]string               `json:"failed,omitempty"`

	metrics []metric
	part    part
	brokers []string // columns of the table
}

func newResult(c benchCase) *result {
	return &result{Case: c.name, Title: c.title, metrics: c.metrics, part: c.part, Samples: map[string]map[string][]float64{}, Failed: map[string]string{}}
}

func (r *result) add(broker string, v values) {
	if r.Samples[broker] == nil {
		r.Samples[broker] = map[string][]float64{}
	}
	for name, value := range v {
		r.Samples[broker][name] = append(r.Samples[broker][name], value)
	}
}

// median returns the median of a metric, and false if the broker has no value of it.
func (r *result) median(broker, metric string) (float64, bool) {
	v := r.Samples[broker][metric]
	if len(v) == 0 {
		return 0, false
	}
	return median(v), true
}

// report is the result of a run.
type report struct {
	Machine  machine           `json:"machine"`
	Command  string            `json:"command"`
	Settings string            `json:"settings"`
	Versions map[string]string `json:"versions"`
	Results  []*result         `json:"results"`
}

// results returns the results of a part.
func (r *report) results(p part) []*result {
	return slices.DeleteFunc(slices.Clone(r.Results), func(res *result) bool { return res.part != p })
}

// writeTable writes medians as a Markdown table. The results have the same columns.
func writeTable(w io.Writer, results []*result) {
	io.WriteString(w, tableHead(results[0].brokers)) //nolint:errcheck // as for the rows
	for _, res := range results {
		io.WriteString(w, res.rows()) //nolint:errcheck // a terminal, or a builder
	}
	writeFailures(w, results)
}

func tableHead(brokers []string) string {
	if !slices.Contains(brokers, nameOurs) {
		return fmt.Sprintf("| case | measure | %s |\n|---|---|%s\n", strings.Join(brokers, " | "), strings.Repeat("---:|", len(brokers)))
	}
	return fmt.Sprintf("| case | measure | %s | Fiveways is better by | floor | of the floor | bar | met |\n|---|---|%s---:|---:|---:|---|---|\n",
		strings.Join(brokers, " | "), strings.Repeat("---:|", len(brokers)))
}

// rows returns the rows of the case. The first of them has the title.
func (r *result) rows() string {
	var b strings.Builder
	title := r.Title
	for _, m := range r.metrics {
		fmt.Fprintf(&b, "| %s | %s, %s |", title, m.name, m.unit)
		for _, broker := range r.brokers {
			fmt.Fprintf(&b, " %s |", r.cell(broker, m.name))
		}
		if slices.Contains(r.brokers, nameOurs) {
			fmt.Fprintf(&b, " %s |", r.judge(m))
		}
		b.WriteString("\n")
		title = ""
	}
	return b.String()
}

func writeFailures(w io.Writer, results []*result) {
	for _, res := range results {
		for _, b := range append(slices.Clone(res.brokers), nameFloor) {
			if why, ok := res.Failed[b]; ok {
				fmt.Fprintf(w, "\n%s failed in %s: %s\n", b, res.Case, strings.ReplaceAll(why, "\n", " "))
			}
		}
	}
}

func (r *result) cell(broker, metric string) string {
	if v, ok := r.median(broker, metric); ok {
		return number(v)
	}
	if r.Failed[broker] != "" {
		return "failed"
	}
	return "–"
}

// rival returns the server that Fiveways is compared with.
func (r *result) rival() string {
	switch r.part {
	case partSQL, partSemaphore:
		return namePostgres
	case partJobs:
		return nameRedis
	case partEtcd:
		return nameEtcd
	}
	return nameRabbit
}

// judge returns the last five columns. "of the floor" is our rate as a share of the null server's,
// or its cost as a share of ours.
func (r *result) judge(m metric) string {
	factor, share, verdict := "–", "–", ""
	ours, haveOurs := r.median(nameOurs, m.name)
	rival, haveRival := r.median(r.rival(), m.name)
	if haveOurs {
		verdict = m.verdict(ours, rival, haveRival)
		if f, ok := m.better(ours, rival); ok {
			factor = number(f) + " ×"
		}
	}
	floor, _ := r.median(nameFloor, m.name)
	if f, ok := m.better(ours, floor); ok {
		share = strconv.Itoa(int(math.Round(100*f))) + " %"
	}
	return strings.Join([]string{factor, r.cell(nameFloor, m.name), share, m.barText(), verdict}, " | ")
}

// failures returns the number of cases in which a broker failed.
func (r *report) failures() int {
	n := 0
	for _, res := range r.Results {
		n += len(res.Failed)
	}
	return n
}

func (r *report) saveJSON(file string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}
