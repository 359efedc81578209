package cli

import (
	"fmt"
	"io"
	"os"
	"time"
	_ "time/tzdata" // a zone must be found on a machine without the database, too

	"github.com/spf13/cobra"

	"sayso/business/hours"
)

func init() { register("business", newBusinessHours) }

func newBusinessHours(e *env) *cobra.Command {
	var at, zone, calendar string
	c := &cobra.Command{
		Use:   "hours VALUE --at INSTANT --zone ZONE",
		Short: "Read opening hours and say whether it is open",
		Long: "Hours reads opening hours as a business states them and says whether it is open at an instant: open, closed or unknown, with the reason and the rule that decided. It needs no registry.\n\n" +
			"INSTANT is RFC 3339, or a local time of ZONE without an offset; one that clocks set back make twice is unknown when the two differ. ZONE is a name of the IANA database; " +
			"without it the answer is unknown, zone_not_published, because nobody may take the reader's own. A rule about holidays needs --calendar, a calendar.json.\n\n" +
			"Exit 0 with every answer, 1 when VALUE is not understood, with the token.",
		Example: "  sayso business hours \"Mo-Fr 09:00-18:00; Sa 10:00-14:00\" --at 2026-10-02T12:30 --zone Europe/London\n" +
			"  sayso business hours \"Mo-Su 08:00-20:00; PH off\" --at 2026-12-25T12:00:00Z --zone Europe/Vienna --calendar calendar.json",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return e.openingHours(args[0], at, zone, calendar) },
	}
	flags := c.Flags()
	flags.StringVar(&at, "at", "", "instant, RFC 3339 or a local time of the zone (default now)")
	flags.StringVar(&zone, "zone", "", "time zone of the place, such as Europe/London")
	flags.StringVar(&calendar, "calendar", "", "file with the holidays, calendar.json")
	return c
}

func (e *env) openingHours(value, at, zone, calendar string) error {
	h, warnings, err := hours.Parse(value)
	if err != nil {
		return failedError("%v", err).withHint("the notation is that of sayso/business/hours: Mo-Fr 09:00-18:00; Sa 10:00-14:00")
	}
	location, err := zoneOf(zone)
	if err != nil {
		return err
	}
	days, err := readCalendarFile(calendar)
	if err != nil {
		return err
	}
	if at == "" {
		at = time.Now().UTC().Format(time.RFC3339)
	}
	result, err := h.AtText(at, location, days)
	if err != nil {
		return usageError("--at: %v", err)
	}
	if err := e.answer(result, func(w io.Writer) error {
		text := fmt.Sprintf("%s (%s)", result.State, result.Reason)
		if result.Rule != "" {
			text += ": " + result.Rule
		}
		_, err := fmt.Fprintln(w, printable(text))
		return err
	}); err != nil {
		return err
	}
	switch result.Reason {
	case hours.ReasonNoZone:
		e.note("next: name the time zone of the place with --zone, such as Europe/London")
	case hours.ReasonHolidayUnknown:
		e.note("next: give the holidays with --calendar, a calendar.json")
	}
	for _, warning := range warnings {
		e.note("note: %s [%s]", warning.Message, warning.Code)
	}
	return nil
}

// zoneOf finds a zone of the IANA database; "" is none.
func zoneOf(name string) (*time.Location, error) {
	if name == "" {
		return nil, nil
	}
	location, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, usageError("--zone %q is no time zone", name).withHint("it is a name such as Europe/London")
	}
	return location, nil
}

func readCalendarFile(path string) (*hours.Calendar, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	days, err := hours.ParseCalendar(data)
	if err != nil {
		return nil, failedError("%s: %v", path, err)
	}
	return days, nil
}
