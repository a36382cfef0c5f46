package selector

import "fiveways.dev/fiveways/internal/core/message"

// field is the meaning of a name that is not a header.
type field uint8

const (
	fieldText         field = iota // the property with this flag, as text
	fieldOctet                     // the same as a one-byte number
	fieldSeconds                   // timestamp
	fieldMilliseconds              // timestamp in the unit of JMS
	fieldDurability                // delivery mode in the words of JMS
	fieldExchange
	fieldKey
)

// source is where the value of a name comes from.
type source struct {
	field field
	flag  message.PropertyFlags
}

// properties are the names of properties, which may be preceded by "properties.".
var properties = map[string]source{
	"content_type":     {fieldText, message.HasContentType},
	"content_encoding": {fieldText, message.HasContentEncoding},
	"delivery_mode":    {fieldOctet, message.HasDeliveryMode},
	"priority":         {fieldOctet, message.HasPriority},
	"correlation_id":   {fieldText, message.HasCorrelationID},
	"reply_to":         {fieldText, message.HasReplyTo},
	"expiration":       {fieldText, message.HasExpiration},
	"message_id":       {fieldText, message.HasMessageID},
	"timestamp":        {fieldSeconds, message.HasTimestamp},
	"type":             {fieldText, message.HasType},
	"user_id":          {fieldText, message.HasUserID},
	"app_id":           {fieldText, message.HasAppID},
	"cluster_id":       {fieldText, message.HasClusterID},
}

// further are the other names that are not headers.
var further = map[string]source{
	"exchange":         {field: fieldExchange},
	"routing_key":      {field: fieldKey},
	"JMSPriority":      {fieldOctet, message.HasPriority},
	"JMSMessageID":     {fieldText, message.HasMessageID},
	"JMSCorrelationID": {fieldText, message.HasCorrelationID},
	"JMSType":          {fieldText, message.HasType},
	"JMSReplyTo":       {fieldText, message.HasReplyTo},
	"JMSTimestamp":     {fieldMilliseconds, message.HasTimestamp},
	"JMSDeliveryMode":  {fieldDurability, message.HasDeliveryMode},
}

// headerPrefixes mark the name of a header; the second is used in RabbitMQ's filters.
var headerPrefixes = []string{"headers.", "application_properties."}

const propertyPrefix = "properties."
