package amqpwire

// TxSelect puts a channel in transaction mode.
type TxSelect struct{}

func (*TxSelect) ID() MethodID         { return IDTxSelect }
func (*TxSelect) arguments(*arguments) {}

// TxSelectOk confirms TxSelect.
type TxSelectOk struct{}

func (*TxSelectOk) ID() MethodID         { return IDTxSelectOk }
func (*TxSelectOk) arguments(*arguments) {}

// TxCommit commits the transaction of a channel.
type TxCommit struct{}

func (*TxCommit) ID() MethodID         { return IDTxCommit }
func (*TxCommit) arguments(*arguments) {}

// TxCommitOk confirms TxCommit.
type TxCommitOk struct{}

func (*TxCommitOk) ID() MethodID         { return IDTxCommitOk }
func (*TxCommitOk) arguments(*arguments) {}

// TxRollback drops the transaction of a channel.
type TxRollback struct{}

func (*TxRollback) ID() MethodID         { return IDTxRollback }
func (*TxRollback) arguments(*arguments) {}

// TxRollbackOk confirms TxRollback.
type TxRollbackOk struct{}

func (*TxRollbackOk) ID() MethodID         { return IDTxRollbackOk }
func (*TxRollbackOk) arguments(*arguments) {}
