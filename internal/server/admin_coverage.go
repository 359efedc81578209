package server

import "sayso/internal/app"

// coverageInput holds the questions of a report.
type coverageInput struct {
	Questions []app.CoverageQuestion `json:"questions" desc:"at most 1000, as customers ask them"`
}

// coverage asks questions of the content as it is stored. It is no act: the answers are neither signed nor shown to anybody else.
func coverage(c *call, in coverageInput) (*app.CoverageReport, error) {
	return c.registry.Coverage(c.ctx, c.actor, c.slug(), in.Questions)
}
