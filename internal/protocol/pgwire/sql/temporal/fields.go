package temporal

// Fields is a set of fields of an interval, as interval year to month declares it. The bits are
// those that PostgreSQL's parser and typmods use.
type Fields int32

const (
	fieldMonth Fields = 1 << 1
	fieldYear  Fields = 1 << 2
	fieldDay   Fields = 1 << 3

	fieldHour   Fields = 1 << 10
	fieldMinute Fields = 1 << 11
	fieldSecond Fields = 1 << 12

	// AllFields is an interval without a declaration of fields.
	AllFields Fields = 0x7fff
)

var fieldNames = map[Fields]string{
	fieldYear: " year", fieldMonth: " month", fieldDay: " day", fieldHour: " hour", fieldMinute: " minute", fieldSecond: " second",
	fieldYear | fieldMonth:                           " year to month",
	fieldDay | fieldHour:                             " day to hour",
	fieldDay | fieldHour | fieldMinute:               " day to minute",
	fieldDay | fieldHour | fieldMinute | fieldSecond: " day to second",
	fieldHour | fieldMinute:                          " hour to minute",
	fieldHour | fieldMinute | fieldSecond:            " hour to second",
	fieldMinute | fieldSecond:                        " minute to second",
	AllFields:                                        "",
}

// Valid reports whether SQL can declare f.
func (f Fields) Valid() bool {
	_, ok := fieldNames[f]
	return ok
}

// String returns f as it follows the word interval: " year to month". It is empty for AllFields.
func (f Fields) String() string { return fieldNames[f] }

// Keep removes what is smaller than the smallest field of f. Larger parts stay, as in PostgreSQL.
func (i Interval) Keep(f Fields) Interval {
	switch f {
	case fieldYear:
		i = Interval{Months: i.Months / 12 * 12}
	case fieldMonth, fieldYear | fieldMonth:
		i = Interval{Months: i.Months}
	case fieldDay:
		i.Micros = 0
	case fieldHour, fieldDay | fieldHour:
		i.Micros = i.Micros / MicrosPerHour * MicrosPerHour
	case fieldMinute, fieldDay | fieldHour | fieldMinute, fieldHour | fieldMinute:
		i.Micros = i.Micros / MicrosPerMinute * MicrosPerMinute
	}
	return i
}
