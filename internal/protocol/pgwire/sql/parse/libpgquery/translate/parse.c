/*
 * What the Go code calls. The memory of one text is that of its context: Go calls parse, failure if
 * parse threw, and then finish.
 */
#include "pg_query.h"
#include "pg_query_internal.h"
#include "pg_query_outfuncs.h"

#include "parser/parser.h"

/* Go reads this as 32-bit numbers: see the fields of outcome there. */
static struct
{
	unsigned int length;
	char	   *tree;
	char	   *message,
			   *detail,
			   *hint;
	int			sqlstate,
				position;
}			outcome;

static MemoryContext context;

void *
parse(const char *text)
{
	static sigjmp_buf unused;
	PgQueryProtobuf tree;

	PG_exception_stack = &unused;	/* an error that nothing catches would end the process */
	context = pg_query_enter_memory_context();
	tree = pg_query_nodes_to_protobuf(raw_parser(text, RAW_PARSE_DEFAULT));
	memset(&outcome, 0, sizeof outcome);
	outcome.length = tree.len;
	outcome.tree = tree.data;
	return &outcome;
}

void *
failure(void)
{
	ErrorData  *e;

	error_context_stack = NULL; /* it points into the stack that parse has left */
	MemoryContextSwitchTo(context);
	e = CopyErrorData();
	FlushErrorState();
	memset(&outcome, 0, sizeof outcome);
	outcome.message = e->message;
	outcome.detail = e->detail;
	outcome.hint = e->hint;
	outcome.sqlstate = e->sqlerrcode;
	outcome.position = e->cursorpos;
	return &outcome;
}

void
finish(void)
{
	free(outcome.tree);
	pg_query_exit_memory_context(context);
}
