package facts

// DefaultGraceDays is Area.GraceDays when the author names none, the grace of facts without an area, and what a reader assumes: a record does not carry the
// publisher's own figure (F§4.4).
const DefaultGraceDays = 7

// The states of a promised check (F§4.4).
const (
	StalenessCurrent = "current"
	StalenessDue     = "due"
	StalenessOverdue = "overdue"
)

// Staleness compares a day with the publisher's own promise: the day the next check is scheduled for, zero when none is, and the days of grace after it.
func Staleness(scheduled Date, graceDays int, today Date) string {
	switch {
	case scheduled.IsZero() || today < scheduled:
		return StalenessCurrent
	case int(today-scheduled) <= graceDays:
		return StalenessDue
	}
	return StalenessOverdue
}

// NextRefresh is nextScheduledRefresh of a value in an area (F§3.1), zero when nothing is promised.
func NextRefresh(v *DatedValue, area Area) Date {
	if !v.NextCheck.IsZero() || area.EveryDays == 0 {
		return v.NextCheck
	}
	return v.Verified.AddDays(area.EveryDays)
}
