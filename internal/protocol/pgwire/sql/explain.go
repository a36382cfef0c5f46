package sql

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// explainOptions are the options of EXPLAIN that have an effect.
type explainOptions struct {
	analyze, costs, json bool
	timing, summary      bool
}

// explain plans EXPLAIN. Plans are not worth showing, so it returns a single line that tools and
// postgres_fdw can parse. With ANALYZE it runs the statement and counts the rows.
func (p *planner) explain(n *pg.ExplainStmt) (*plan, error) {
	began := time.Now()
	opts, err := p.explainOptions(n.Options)
	if err != nil {
		return nil, err
	}
	inner, err := p.explained(n.Query)
	if err != nil {
		return nil, err
	}
	made := &plan{columns: []value.Field{{Name: "QUERY PLAN", Type: value.Text}}, utility: true, doomed: inner.doomed}
	if opts.json {
		made.columns[0].Type = value.JSON
	}
	if opts.analyze {
		made.writes, made.utility = inner.writes, inner.utility
	}
	planning := time.Since(began)
	made.command = func(env *expr.Env) (query.Result, error) {
		run, rows := time.Now(), 0
		if opts.analyze {
			if rows, err = inner.count(env); err != nil {
				return query.Result{}, err
			}
		}
		return query.Result{Tag: "EXPLAIN", Rows: opts.show(planning, time.Since(run), rows)}, nil
	}
	return made, nil
}

// explained plans the statement of an EXPLAIN. For DECLARE it is the query.
func (p *planner) explained(n *pg.Node) (*plan, error) {
	if d := n.GetDeclareCursorStmt(); d != nil {
		n = d.Query
	}
	return p.statement(n, &Prepared{Text: p.Text, stmt: n})
}

// count runs a plan and counts its rows.
func (p *plan) count(env *expr.Env) (n int, err error) {
	if p.query == nil {
		out, err := p.command(env)
		return len(out.Rows), err
	}
	err = p.query.Run(env, func([]value.Datum) error { n++; return nil })
	return n, err
}

func (p *planner) explainOptions(list []*pg.Node) (explainOptions, error) {
	opts, given := explainOptions{costs: true}, map[string]bool{}
	for _, item := range list {
		d := item.GetDefElem()
		if d.Defname == "format" {
			format := tree.OptionText(d)
			if opts.json = format == "json"; !opts.json && format != "text" {
				return opts, p.explainFormat(format, d.Location)
			}
			continue
		}
		on, err := tree.OptionBool(d)
		if err != nil {
			return opts, err
		}
		given[d.Defname] = on
		switch d.Defname {
		case "analyze":
			opts.analyze = on
		case "costs":
			opts.costs = on
		case "verbose", "settings", "buffers", "wal", "timing", "summary":
		default:
			return opts, pgerror.New(pgerror.SyntaxError, `unrecognized EXPLAIN option "%s"`, d.Defname).At(p.Text, d.Location)
		}
	}
	for _, name := range []string{"wal", "timing"} {
		if given[name] && !opts.analyze {
			return opts, pgerror.New(pgerror.InvalidParameterValue, "EXPLAIN option %s requires ANALYZE", strings.ToUpper(name))
		}
	}
	otherwise := func(name string) bool {
		if on, ok := given[name]; ok {
			return on
		}
		return opts.analyze
	}
	opts.timing, opts.summary = otherwise("timing"), otherwise("summary")
	return opts, nil
}

func (p *planner) explainFormat(format string, location int32) error {
	if format == "xml" || format == "yaml" {
		return pgerror.Unsupported("EXPLAIN (FORMAT "+strings.ToUpper(format)+")").At(p.Text, location).WithHint("There are TEXT and JSON.")
	}
	return pgerror.New(pgerror.InvalidParameterValue, `unrecognized value for EXPLAIN option "format": "%s"`, format).At(p.Text, location)
}

// show returns the rows of the EXPLAIN output.
func (o explainOptions) show(planning, execution time.Duration, rows int) [][]value.Datum {
	if o.json {
		return [][]value.Datum{{o.showJSON(planning, execution, rows)}}
	}
	line := "Result"
	if o.costs {
		line += "  (cost=0.00..0.01 rows=1 width=0)"
	}
	if o.analyze {
		if line += " (actual "; o.timing {
			line += fmt.Sprintf("time=%.3f..%.3f ", millis(execution), millis(execution))
		}
		line += fmt.Sprintf("rows=%d loops=1)", rows)
	}
	lines := [][]value.Datum{{line}}
	if o.summary {
		lines = append(lines, []value.Datum{fmt.Sprintf("Planning Time: %.3f ms", millis(planning))})
		if o.analyze {
			lines = append(lines, []value.Datum{fmt.Sprintf("Execution Time: %.3f ms", millis(execution))})
		}
	}
	return lines
}

func (o explainOptions) showJSON(planning, execution time.Duration, rows int) string {
	node := map[string]any{"Node Type": "Result", "Parallel Aware": false, "Async Capable": false}
	if o.costs {
		node["Startup Cost"], node["Total Cost"], node["Plan Rows"], node["Plan Width"] = 0.0, 0.01, 1, 0
	}
	if o.analyze {
		if node["Actual Rows"], node["Actual Loops"] = rows, 1; o.timing {
			node["Actual Startup Time"], node["Actual Total Time"] = millis(execution), millis(execution)
		}
	}
	whole := map[string]any{"Plan": node}
	if o.summary {
		if whole["Planning Time"] = millis(planning); o.analyze {
			whole["Execution Time"] = millis(execution)
		}
	}
	text, err := json.MarshalIndent([]any{whole}, "", "  ")
	if err != nil { // cannot happen for numbers and texts
		panic(err)
	}
	return string(text)
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
