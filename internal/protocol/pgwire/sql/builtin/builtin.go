package builtin

import (
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin/aggregate"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin/array"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin/datetime"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin/document"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin/format"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin/number"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin/series"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin/session"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin/text"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
)

// Library contains all built-in functions and operators.
var Library = expr.NewLibrary(
	aggregate.Table(), array.Table(), datetime.Table(), document.Table(), format.Table(), number.Table(), series.Table(), session.Table(), text.Table(),
)
