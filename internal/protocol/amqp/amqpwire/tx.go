package amqpwire

// TxSelect puts a channel in transaction mode.
type TxSelect struct{}

// ID is IDTxSelect.
func (*TxSelect) ID() MethodID { return IDTxSelect }

// Decode implements Method.
func (*TxSelect) Decode(args []byte) error { return noArgs(args, IDTxSelect) }

// Append implements Method.
func (*TxSelect) Append(dst []byte) []byte { return appendID(dst, IDTxSelect) }

// TxSelectOk confirms TxSelect.
type TxSelectOk struct{}

// ID is IDTxSelectOk.
func (*TxSelectOk) ID() MethodID { return IDTxSelectOk }

// Decode implements Method.
func (*TxSelectOk) Decode(args []byte) error { return noArgs(args, IDTxSelectOk) }

// Append implements Method.
func (*TxSelectOk) Append(dst []byte) []byte { return appendID(dst, IDTxSelectOk) }

// TxCommit commits the transaction of a channel.
type TxCommit struct{}

// ID is IDTxCommit.
func (*TxCommit) ID() MethodID { return IDTxCommit }

// Decode implements Method.
func (*TxCommit) Decode(args []byte) error { return noArgs(args, IDTxCommit) }

// Append implements Method.
func (*TxCommit) Append(dst []byte) []byte { return appendID(dst, IDTxCommit) }

// TxCommitOk confirms TxCommit.
type TxCommitOk struct{}

// ID is IDTxCommitOk.
func (*TxCommitOk) ID() MethodID { return IDTxCommitOk }

// Decode implements Method.
func (*TxCommitOk) Decode(args []byte) error { return noArgs(args, IDTxCommitOk) }

// Append implements Method.
func (*TxCommitOk) Append(dst []byte) []byte { return appendID(dst, IDTxCommitOk) }

// TxRollback drops the transaction of a channel.
type TxRollback struct{}

// ID is IDTxRollback.
func (*TxRollback) ID() MethodID { return IDTxRollback }

// Decode implements Method.
func (*TxRollback) Decode(args []byte) error { return noArgs(args, IDTxRollback) }

// Append implements Method.
func (*TxRollback) Append(dst []byte) []byte { return appendID(dst, IDTxRollback) }

// TxRollbackOk confirms TxRollback.
type TxRollbackOk struct{}

// ID is IDTxRollbackOk.
func (*TxRollbackOk) ID() MethodID { return IDTxRollbackOk }

// Decode implements Method.
func (*TxRollbackOk) Decode(args []byte) error { return noArgs(args, IDTxRollbackOk) }

// Append implements Method.
func (*TxRollbackOk) Append(dst []byte) []byte { return appendID(dst, IDTxRollbackOk) }
