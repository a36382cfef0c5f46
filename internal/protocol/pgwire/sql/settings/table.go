package settings

import (
	"math"
	"strings"
)

// kind determines how the values of a parameter are parsed.
type kind byte

const (
	textKind kind = iota
	boolKind
	intKind
	realKind
	enumKind
)

// Parameter is a run-time parameter of PostgreSQL.
type Parameter struct {
	Name    string // as shown by SHOW ALL
	Comment string // its description
	List    bool   // it takes a list of names

	initial  string // its default, as shown by SHOW
	kind     kind
	unit     string // ms, s, min, kB; of an intKind
	min, max int64  // of an intKind
	values   []string
	internal bool // cannot be set
	fixed    bool // set only by the server's configuration
	// check returns the normalized value, or an error with the reason.
	check func(v string) (string, error)
}

var (
	isolationLevels = []string{"serializable", "repeatable read", "read committed", "read uncommitted"}
	messageLevels   = []string{"debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error"}
)

func onOff(name, initial, comment string) *Parameter {
	return &Parameter{Name: name, initial: initial, kind: boolKind, Comment: comment}
}

func number(name, initial, unit string, lowest, highest int64, comment string) *Parameter {
	return &Parameter{Name: name, initial: initial, kind: intKind, unit: unit, min: lowest, max: highest, Comment: comment}
}

func words(name, initial string, values []string, comment string) *Parameter {
	return &Parameter{Name: name, initial: initial, kind: enumKind, values: values, Comment: comment}
}

func text(name, initial, comment string) *Parameter {
	return &Parameter{Name: name, initial: initial, Comment: comment}
}

func internal(s *Parameter) *Parameter { s.internal = true; return s }
func fixed(s *Parameter) *Parameter    { s.fixed = true; return s }

func checked(s *Parameter, check func(string) (string, error)) *Parameter {
	s.check = check
	return s
}

// list contains all parameters, in the order of SHOW ALL: those that have an effect, and those that
// clients and scripts commonly set.
var list = []*Parameter{
	checked(text("application_name", "", "Sets the application name to be reported in statistics and logs."), checkApplicationName),
	internal(number("block_size", "8192", "", 8192, 8192, "Shows the size of a disk block.")),
	words("backslash_quote", "safe_encoding", []string{"safe_encoding", "on", "off"}, `Sets whether "\'" is allowed in string literals.`),
	words("bytea_output", "hex", []string{"escape", "hex"}, "Sets the output format for bytea."),
	onOff("check_function_bodies", "on", "Check routine bodies during CREATE FUNCTION and CREATE PROCEDURE."),
	checked(text("client_encoding", "UTF8", "Sets the client's character set encoding."), checkEncoding),
	words("client_min_messages", "notice", messageLevels, "Sets the message levels that are sent to the client."),
	internal(onOff("data_checksums", "off", "Shows whether data checksums are turned on for this cluster.")),
	checked(text("DateStyle", "ISO, MDY", "Sets the display format for date and time values."), checkDateStyle),
	number("deadlock_timeout", "1s", "ms", 1, math.MaxInt32, "Sets the time to wait on a lock before checking for deadlock."),
	text("default_table_access_method", "heap", "Sets the default table access method for new tables."),
	text("default_tablespace", "", "Sets the default tablespace to create tables and indexes in."),
	words("default_text_search_config", "pg_catalog.simple", []string{"pg_catalog.simple"}, "Sets default text search configuration."),
	onOff("default_transaction_deferrable", "off", "Sets the default deferrable status of new transactions."),
	words("default_transaction_isolation", "read committed", isolationLevels, "Sets the transaction isolation level of each new transaction."),
	onOff("default_transaction_read_only", "off", "Sets the default read-only status of new transactions."),
	onOff("enable_hashjoin", "on", "Enables the planner's use of hash join plans."),
	onOff("enable_indexscan", "on", "Enables the planner's use of index-scan plans."),
	onOff("enable_mergejoin", "on", "Enables the planner's use of merge join plans."),
	onOff("enable_nestloop", "on", "Enables the planner's use of nested-loop join plans."),
	onOff("enable_seqscan", "on", "Enables the planner's use of sequential-scan plans."),
	onOff("escape_string_warning", "on", "Warn about backslash escapes in ordinary string literals."),
	number("extra_float_digits", "1", "", -15, 3, "Sets the number of digits displayed for floating-point values."),
	number("from_collapse_limit", "8", "", 1, math.MaxInt32, "Sets the FROM-list size beyond which subqueries are not collapsed."),
	onOff("geqo", "on", "Enables genetic query optimization."),
	number("idle_in_transaction_session_timeout", "0", "ms", 0, math.MaxInt32,
		"Sets the maximum allowed idle time between queries, when in a transaction."),
	number("idle_session_timeout", "0", "ms", 0, math.MaxInt32,
		"Sets the maximum allowed idle time between queries, when not in a transaction."),
	internal(onOff("in_hot_standby", "off", "Shows whether hot standby is currently active.")),
	internal(onOff("integer_datetimes", "on", "Shows whether datetimes are integer based.")),
	words("IntervalStyle", "postgres", []string{"postgres", "postgres_verbose", "sql_standard", "iso_8601"},
		"Sets the display format for interval values."),
	internal(onOff("is_superuser", "off", "Shows whether the current user is a superuser.")),
	onOff("jit", "off", "Allow JIT compilation."),
	number("join_collapse_limit", "8", "", 1, math.MaxInt32, "Sets the FROM-list size beyond which JOIN constructs are not flattened."),
	internal(text("lc_collate", "C.UTF-8", "Shows the collation order locale.")),
	internal(text("lc_ctype", "C.UTF-8", "Shows the character classification and case conversion locale.")),
	text("lc_messages", "C", "Sets the language in which messages are displayed."),
	text("lc_monetary", "C", "Sets the locale for formatting monetary amounts."),
	text("lc_numeric", "C", "Sets the locale for formatting numbers."),
	text("lc_time", "C", "Sets the locale for formatting date and time values."),
	fixed(text("listen_addresses", "localhost", "Sets the host name or IP address(es) to listen to.")),
	number("lock_timeout", "0", "ms", 0, math.MaxInt32, "Sets the maximum allowed duration of any wait for a lock."),
	number("log_min_duration_statement", "-1", "ms", -1, math.MaxInt32,
		"Sets the minimum execution time above which all statements will be logged."),
	words("log_statement", "none", []string{"none", "ddl", "mod", "all"}, "Sets the type of statements logged."),
	number("maintenance_work_mem", "64MB", "kB", 1024, math.MaxInt32, "Sets the maximum memory to be used for maintenance operations."),
	fixed(number("max_connections", "1000", "", 1, 262143, "Sets the maximum number of concurrent connections.")),
	internal(number("max_identifier_length", "63", "", 63, 63, "Shows the maximum identifier length.")),
	internal(number("max_index_keys", "32", "", 32, 32, "Shows the maximum number of index keys.")),
	number("max_parallel_workers_per_gather", "0", "", 0, 1024, "Sets the maximum number of parallel processes per executor node."),
	fixed(number("max_prepared_transactions", "0", "", 0, 262143, "Sets the maximum number of simultaneously prepared transactions.")),
	words("password_encryption", "scram-sha-256", []string{"md5", "scram-sha-256"}, "Chooses the algorithm for encrypting passwords."),
	words("plan_cache_mode", "auto", []string{"auto", "force_generic_plan", "force_custom_plan"},
		"Controls the planner's selection of custom or generic plan."),
	fixed(number("port", "5433", "", 1, 65535, "Sets the TCP port the server listens on.")),
	&Parameter{Name: "random_page_cost", initial: "4", kind: realKind, Comment: "Sets the planner's cost of a page read at random."},
	text("role", "none", "Sets the current role."),
	onOff("row_security", "on", "Enable row security."),
	&Parameter{Name: "search_path", initial: `"$user", public`, List: true,
		Comment: "Sets the schema search order for names that are not schema-qualified."},
	internal(text("server_encoding", "UTF8", "Shows the server (database) character set encoding.")),
	internal(text("server_version", ServerVersion, "Shows the server version.")),
	internal(number("server_version_num", serverVersionNum, "", 0, math.MaxInt32, "Shows the server version as an integer.")),
	text("session_authorization", "", "Sets the session user name."),
	words("session_replication_role", "origin", []string{"origin", "replica", "local"},
		"Sets the session's behavior for triggers and rewrite rules."),
	fixed(onOff("ssl", "off", "Enables SSL connections.")),
	onOff("standard_conforming_strings", "on", "Causes '...' strings to treat backslashes literally."),
	number("statement_timeout", "0", "ms", 0, math.MaxInt32, "Sets the maximum allowed duration of any statement."),
	onOff("synchronize_seqscans", "on", "Enable synchronized sequential scans."),
	words("synchronous_commit", "on", []string{"local", "remote_write", "remote_apply", "on", "off"},
		"Sets the current transaction's synchronization level."),
	number("tcp_keepalives_idle", "0", "s", 0, math.MaxInt32, "Time between issuing TCP keepalives."),
	number("tcp_keepalives_interval", "0", "s", 0, math.MaxInt32, "Time between TCP keepalive retransmits."),
	number("tcp_user_timeout", "0", "ms", 0, math.MaxInt32, "TCP user timeout."),
	number("temp_buffers", "8MB", "kB", 800, math.MaxInt32, "Sets the maximum number of temporary buffers used by each session."),
	checked(text("TimeZone", "UTC", "Sets the time zone for displaying and interpreting time stamps."), checkZone),
	text("timezone_abbreviations", "Default", "Selects a file of time zone abbreviations."),
	onOff("transaction_deferrable", "off", "Whether to defer a read-only serializable transaction until it can be executed."),
	words("transaction_isolation", "read committed", isolationLevels, "Sets the current transaction's isolation level."),
	onOff("transaction_read_only", "off", "Sets the current transaction's read-only status."),
	onOff("transform_null_equals", "off", `Treats "expr=NULL" as "expr IS NULL".`),
	number("wal_writer_delay", "200ms", "ms", 1, 10000, "Time between WAL flushes performed in the WAL writer."),
	number("work_mem", "4MB", "kB", 64, math.MaxInt32, "Sets the maximum memory to be used for query workspaces."),
	words("xmlbinary", "base64", []string{"base64", "hex"}, "Sets how binary values are to be encoded in XML."),
	words("xmloption", "content", []string{"content", "document"}, "Sets whether XML data is documents or content fragments."),
}

// The server version reported to clients. It corresponds to the supported SQL, so that clients do
// not use features of later versions.
const (
	ServerVersion    = "15.0 (Fiveways)"
	serverVersionNum = "150000"
)

// Reported are the parameters whose changes clients are notified of, in the order in which
// PostgreSQL reports them at the start of a session.
var Reported = []string{
	"application_name", "client_encoding", "DateStyle", "default_transaction_read_only", "in_hot_standby", "integer_datetimes",
	"IntervalStyle", "is_superuser", "server_encoding", "server_version", "session_authorization", "standard_conforming_strings", "TimeZone",
}

// byName maps lower-case names to parameters.
var byName = func() map[string]*Parameter {
	all := make(map[string]*Parameter, len(list))
	for _, s := range list {
		all[strings.ToLower(s.Name)] = s
	}
	return all
}()

// Lookup returns the parameter with a name in any case; nil: there is none.
func Lookup(name string) *Parameter { return byName[strings.ToLower(name)] }
