package temporal

// wordKind is the kind of a word in a date text.
type wordKind byte

const (
	wordIgnored wordKind = iota
	wordMonth
	wordWeekday
	wordReserved // now, today and so on
	wordHalfDay
	wordEra
	wordISOTime // the t between date and time
	wordJulian
	wordSummer // DST after a zone
)

type dateWord struct {
	kind  wordKind
	value int
}

// Values of words of the kinds wordReserved, wordHalfDay and wordEra.
const (
	reservedNow = iota
	reservedToday
	reservedTomorrow
	reservedYesterday
	reservedEpoch
	reservedEarly
	reservedLate
	reservedZulu

	halfAM = 1
	halfPM = 2
	eraAD  = 1
	eraBC  = 2
)

// maxWord is the number of significant bytes of a word.
const maxWord = 10

func cutWord(s string) string { return s[:min(len(s), maxWord)] }

var dateWords = func() map[string]dateWord {
	words := map[string]dateWord{
		"now": {wordReserved, reservedNow}, "today": {wordReserved, reservedToday}, "tomorrow": {wordReserved, reservedTomorrow},
		"yesterday": {wordReserved, reservedYesterday}, "epoch": {wordReserved, reservedEpoch}, "-infinity": {wordReserved, reservedEarly},
		"infinity": {wordReserved, reservedLate}, "allballs": {wordReserved, reservedZulu},
		"am": {wordHalfDay, halfAM}, "pm": {wordHalfDay, halfPM}, "ad": {wordEra, eraAD}, "bc": {wordEra, eraBC},
		"at": {}, "on": {}, "t": {wordISOTime, 0}, "j": {wordJulian, 0}, "jd": {wordJulian, 0}, "julian": {wordJulian, 0},
		"dst": {wordSummer, 0}, "sept": {wordMonth, 9},
		"tues": {wordWeekday, 2}, "weds": {wordWeekday, 3}, "thur": {wordWeekday, 4}, "thurs": {wordWeekday, 4},
	}
	for i, name := range monthNames {
		words[lower(name)] = dateWord{wordMonth, i + 1}
		words[lower(name[:3])] = dateWord{wordMonth, i + 1}
	}
	for i, name := range weekdayNames {
		words[lower(name)] = dateWord{wordWeekday, i}
		words[lower(name[:3])] = dateWord{wordWeekday, i}
	}
	return words
}()

var (
	monthNames = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
		"December"}
	weekdayNames = [...]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
)

func lower(s string) string { return string(s[0]|0x20) + s[1:] }

// Units of an interval.
type unit byte

const (
	unitNone unit = iota
	unitMicrosecond
	unitMillisecond
	unitSecond
	unitMinute
	unitHour
	unitDay
	unitWeek
	unitMonth
	unitYear
	unitDecade
	unitCentury
	unitMillennium
	unitAgo
)

var intervalUnits = map[string]unit{
	"ago": unitAgo,
	"us":  unitMicrosecond, "usec": unitMicrosecond, "usecs": unitMicrosecond, "usecond": unitMicrosecond, "useconds": unitMicrosecond,
	"microsecon": unitMicrosecond,
	"ms":         unitMillisecond, "msec": unitMillisecond, "msecs": unitMillisecond, "msecond": unitMillisecond, "mseconds": unitMillisecond,
	"millisecon": unitMillisecond,
	"s":          unitSecond, "sec": unitSecond, "secs": unitSecond, "second": unitSecond, "seconds": unitSecond,
	"m": unitMinute, "min": unitMinute, "mins": unitMinute, "minute": unitMinute, "minutes": unitMinute,
	"h": unitHour, "hr": unitHour, "hrs": unitHour, "hour": unitHour, "hours": unitHour,
	"d": unitDay, "day": unitDay, "days": unitDay,
	"w": unitWeek, "week": unitWeek, "weeks": unitWeek,
	"mon": unitMonth, "mons": unitMonth, "month": unitMonth, "months": unitMonth,
	"y": unitYear, "yr": unitYear, "yrs": unitYear, "year": unitYear, "years": unitYear,
	"dec": unitDecade, "decs": unitDecade, "decade": unitDecade, "decades": unitDecade,
	"c": unitCentury, "cent": unitCentury, "century": unitCentury, "centuries": unitCentury,
	"mil": unitMillennium, "mils": unitMillennium, "millennia": unitMillennium, "millennium": unitMillennium,
}
