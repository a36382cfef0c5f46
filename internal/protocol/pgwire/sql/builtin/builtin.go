package builtin

import (
	"fiveways/internal/protocol/pgwire/sql/builtin/aggregate"
	"fiveways/internal/protocol/pgwire/sql/builtin/array"
	"fiveways/internal/protocol/pgwire/sql/builtin/datetime"
	"fiveways/internal/protocol/pgwire/sql/builtin/document"
	"fiveways/internal/protocol/pgwire/sql/builtin/format"
	"fiveways/internal/protocol/pgwire/sql/builtin/number"
	"fiveways/internal/protocol/pgwire/sql/builtin/series"
	"fiveways/internal/protocol/pgwire/sql/builtin/session"
	"fiveways/internal/protocol/pgwire/sql/builtin/text"
	"fiveways/internal/protocol/pgwire/sql/expr"
)

// Library is all built-in functions and operators.
var Library = expr.NewLibrary(
	aggregate.Table(), array.Table(), datetime.Table(), document.Table(), format.Table(), number.Table(), series.Table(), session.Table(), text.Table(),
)
