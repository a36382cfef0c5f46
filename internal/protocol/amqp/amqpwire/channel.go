package amqpwire

// ChannelOpen opens a channel.
type ChannelOpen struct{}

func (*ChannelOpen) ID() MethodID           { return IDChannelOpen }
func (*ChannelOpen) arguments(a *arguments) { a.reservedShortStr() }

// ChannelOpenOk confirms ChannelOpen.
type ChannelOpenOk struct{}

func (*ChannelOpenOk) ID() MethodID           { return IDChannelOpenOk }
func (*ChannelOpenOk) arguments(a *arguments) { a.reservedLongStr() }

// ChannelFlow asks the peer to pause or resume its content.
type ChannelFlow struct {
	Active bool
}

func (*ChannelFlow) ID() MethodID             { return IDChannelFlow }
func (m *ChannelFlow) arguments(a *arguments) { a.bits(&m.Active) }

// ChannelFlowOk confirms ChannelFlow.
type ChannelFlowOk struct {
	Active bool
}

func (*ChannelFlowOk) ID() MethodID             { return IDChannelFlowOk }
func (m *ChannelFlowOk) arguments(a *arguments) { a.bits(&m.Active) }

// ChannelClose ends a channel; ClassID and MethodID name the method that failed, or are 0. A
// ReplyText that does not fit is cut.
type ChannelClose struct {
	ReplyCode uint16
	ReplyText string
	ClassID   uint16
	MethodID  uint16
}

func (*ChannelClose) ID() MethodID { return IDChannelClose }

func (m *ChannelClose) arguments(a *arguments) {
	a.short(&m.ReplyCode)
	a.text(&m.ReplyText)
	a.short(&m.ClassID)
	a.short(&m.MethodID)
}

// ChannelCloseOk confirms ChannelClose.
type ChannelCloseOk struct{}

func (*ChannelCloseOk) ID() MethodID         { return IDChannelCloseOk }
func (*ChannelCloseOk) arguments(*arguments) {}
