// Package report is what every checker of sayso hands back: findings, never one green tick.
//
// A [Rule] is one thing a checker looks at. A [Finding] is what came of one rule at one place: it passed, failed, deserves a warning, or could not be
// looked at. What could not be looked at is [NotTested] with the reason, never a failure and never a pass. A [Report] holds the findings of one run over one
// subject with a verdict of one sentence.
//
// # JSON
//
// One value: subject, protocol, verdict, counts (pass, fail, warning, not_tested, always all four), rules (id, title and section of the rules that occur),
// findings (rule, outcome, message; place, reason and next when there are any). Members are only ever added.
//
// # Text and HTML
//
// Failures come first, then warnings, then what was not tested, then passes. Text passes through [Clean], so that a hostile publisher cannot put terminal
// controls or reversed text into somebody's report; HTML is one page without script and without anything from elsewhere.
package report
