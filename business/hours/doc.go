// Package hours reads, prints, checks and evaluates opening hours. It is pure: the instant, the time zone and the holidays are parameters.
//
// The notation is a strict part of the one used by OpenStreetMap. What is not understood is refused with the token named, never guessed: a lenient
// reader makes "Mon: 10-9" a valid and wrong 10:00 to 09:00.
//
// # Notation
//
//	hours = rule { sep rule }          sep = "; " | ", " | " || "
//	rule  = "24/7" | [dates " "] [days " "] times [" " mod] [" " comment]
//	      | [dates " "] [days " "] mod [" " comment] | [dates " "] days " " comment | comment
//	dates = date { "," date }          date = md ["-" md] | month ["-" month]
//	md    = [year " "] Mon " " DD      month = [year " "] Mon
//	days  = day { "," day }            day = Wd ["-" Wd] | Wd "[" n { "," n } "]" | "PH" | "SH"      n = [-]1..5
//	times = span { "," span }          span = HH:MM "-" HH:MM
//	mod   = "open" | "off" | "closed" | "unknown"
//
// Mon is Jan to Dec, Wd is Mo to Su, PH a public and SH a school holiday. A comment stands in quotation marks and holds neither another one nor a
// control character. A span starts at 00:00 to 23:59 and ends at 26:00 at the latest; an end before the start is on the next day; an end equal to the
// start is refused, because it may mean nothing or a whole day. Ranges wrap (Oct-Mar, Fr-Mo) and have two different ends. A range whose first end has a
// year and whose second has none ends at the next such day; a year at the second end only is refused. A value has at most [MaxLength] bytes.
//
// # Repairs
//
// [Parse] first puts the spelling into this form where nothing can be lost, and reports each repair as a [Warning]: names of days and months in another
// case (repair_case); an hour of one digit (repair_time); spaces that are too many or missing around "-", ",", ";" and "||", and ", " inside a list
// (repair_space); a colon after a month or a range of months (repair_colon). A comma belongs to the list before it when what follows is another member of
// that list: in "We 08:00-13:00, 15:00-19:00" both spans are Wednesday's. Then the text is read by the grammar. [Hours.String] prints the only canonical
// text of a value, and Parse of that text gives the same value without a repair.
//
// # Meaning
//
// A rule matches a day when one of its dates and one of its days match; without dates, or without days, every day does. Several members of a list are
// alternatives. Wd[2] is the second such weekday of a month, Wd[-1] its last. A rule covers the minutes of its spans on the days it matches, and what
// spills over midnight from them; without spans, those days from 00:00 to 24:00. It says open, unless mod says otherwise; "off" and "closed" are the same.
// A comment without mod says unknown, with times or without: "by appointment" is an answer of its own, neither "closed" nor "open". With open before it
// a comment is a remark.
//
// Rules are read from left to right. After "; " a rule replaces all earlier ones on the days it matches, whatever its times are, including what spills
// over into such a day from the day before, and what would spill out of such a day. After ", " a rule adds: where it covers a minute, it decides. After
// " || " a rule decides only minutes that no earlier rule covers. The last rule that decides a minute gives the state; where there is none, the state is
// closed with the reason no_rule.
//
// # Holidays
//
// Weekday rules hold on holidays too, until a rule with PH or SH says otherwise. Whether a day is a holiday is read from the publisher's [Calendar]. A
// calendar knows a year when it lists at least one day of that kind in it: a list of last year's holidays says nothing about this year. Where a holiday
// is not known, both possibilities are evaluated; if the state depends on it, it is unknown with the reason holiday_unknown. [Hours.Weekday] answers for
// a weekday without a date and assumes no holiday.
//
// # Time
//
// Opening hours are local: an instant is evaluated by the clock of the place's own zone, never by the reader's or the computer's ([Hours.At]). Without a
// zone the state is unknown with the reason zone_not_published. [Instants] reads a time as a person types it: a local time that a change of the clocks
// skips is the next valid instant, one that occurs twice is both instants ([Hours.AtAll]).
//
// # Findings
//
// lint_past_midnight: a span ends after 24:00. lint_holiday_overlap: a rule for weekdays decides on a holiday that an earlier rule is about, or an added
// rule for holidays does not take away what the weekday has. lint_season_missing: an added rule has no dates while the rule before it has.
// lint_off_replaces_day: an "off" with times after "; " closes the whole day. lint_comment_unknown: a comment after
// times makes them unknown. lint_year_missing: a date without a year follows one with a year.
package hours
