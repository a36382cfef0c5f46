package mbus

import (
	_ "embed"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

//go:embed readme.txt
var readmeText string

//go:embed readme_rus.txt
var readmeRusText string

func readmeFunctions() []*expr.Function {
	manual := func(name, text string) *expr.Function {
		return commented(scalar(name, nil, value.Text, func(*Session, *expr.Env, arguments) (value.Datum, error) { return text, nil }), "a short manual")
	}
	return []*expr.Function{manual("readme", readmeText), manual("readme_rus", readmeRusText)}
}
