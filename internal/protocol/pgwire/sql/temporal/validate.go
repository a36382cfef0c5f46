package temporal

import "fiveways.dev/fiveways/internal/protocol/pgwire/sql/timezone"

// validate normalizes the year and checks the combination of fields.
func (m *moment) validate() dateError {
	if m.isSpecial {
		return dateOK
	}
	if err := m.validateDate(); err != dateOK {
		return err
	}
	if m.halfDay != 0 && m.hour > 12 {
		return dateOverflow
	}
	if m.halfDay == halfAM && m.hour == 12 {
		m.hour = 0
	} else if m.halfDay == halfPM && m.hour != 12 {
		m.hour += 12
	}
	if m.timeOnly {
		return m.validateTime()
	}
	if m.mask&maskDate != maskDate {
		return dateBad
	}
	return dateOK
}

func (m *moment) validateTime() dateError {
	switch {
	case m.hour > 24 || m.minute > 59 || m.second > 60 || m.hour == 24 && (m.minute > 0 || m.second > 0 || m.micros > 0):
		return dateOverflow
	case m.mask&maskTime != maskTime:
		return dateBad
	case m.zone != nil && m.mask&maskDate != maskDate && !timezone.IsFixed(m.zone):
		return dateBad // without a date the zone's offset is unknown
	}
	return dateOK
}

func (m *moment) validateDate() dateError {
	if m.mask&maskYear != 0 && !m.julian {
		switch {
		case m.bc:
			if m.year <= 0 {
				return dateOverflow
			}
			m.year = 1 - m.year
		case m.twoDigits && m.year < 70:
			m.year += 2000
		case m.twoDigits && m.year < 100:
			m.year += 1900
		case !m.twoDigits && m.year <= 0:
			return dateOverflow
		}
	}
	if m.mask&maskYearDay != 0 {
		m.year, m.month, m.day = fromJulian(julianDay(m.year, 1, 1) + m.yearDay - 1)
	}
	if m.mask&maskMonth != 0 && (m.month < 1 || m.month > 12) || m.mask&maskDay != 0 && (m.day < 1 || m.day > 31) {
		return dateOrderOverflow
	}
	if m.mask&maskDate == maskDate && m.day > DaysIn(m.year, m.month) {
		return dateOverflow
	}
	return dateOK
}

func (m *moment) clockMicros() int64 {
	return int64(m.hour)*MicrosPerHour + int64(m.minute)*MicrosPerMinute + int64(m.second)*MicrosPerSecond + m.micros
}
