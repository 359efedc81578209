package server

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sayso/internal/app"
)

const (
	// headsFresh is how old the registry's newest reading of the heads may be; beyond it the registry serves nothing.
	headsFresh = 10 * time.Second
	keyEnds    = 30 * 24 * time.Hour
)

// registryStatus is the readiness of a registry. One that cannot be read serves nothing, which is a failure; one that cannot sign still serves what is true.
func registryStatus(g app.Gauges) Status {
	status := Status{ID: "registry", Level: LevelOK, Message: fmt.Sprintf("publishers: %d, published: %d", g.Publishers, g.Published)}
	switch {
	case g.Behind > headsFresh || g.Behind < -headsFresh:
		status.Level, status.Message = LevelFailed, "the database could not be read for more than "+headsFresh.String()+", so nothing of the registry is served"
	case g.RegistryKey <= 0:
		status.Level, status.Message = LevelWarning, "no registry key can sign: manifests are unsigned and revocation lists are withheld; install a new key"
	case g.RegistryKey < keyEnds:
		status.Level, status.Message = LevelWarning, fmt.Sprintf("the registry key ends in %s; have the root sign a new one", days(int(g.RegistryKey.Hours()/24)))
	case g.ProofsLapsed > 0:
		status.Level, status.Message = LevelWarning, fmt.Sprintf("publishers that are not served because their authority has lapsed: %d", g.ProofsLapsed)
	}
	return status
}

func days(n int) string {
	if n == 1 {
		return "1 day"
	}
	return fmt.Sprintf("%d days", n)
}

// registryGauges shows a registry's numbers to Prometheus, all of one reading.
type registryGauges struct{ registry *app.Registry }

var registrySeries = []struct {
	desc  *prometheus.Desc
	value func(app.Gauges) float64
}{
	{gauge("publishers", "Publishers, whatever their state."), func(g app.Gauges) float64 { return float64(g.Publishers) }},
	{gauge("publishers_published", "Publishers whose content is served."), func(g app.Gauges) float64 { return float64(g.Published) }},
	{gauge("proofs_expiring", "Domain proofs that lapse within 14 days and that nothing else stands behind."), func(g app.Gauges) float64 { return float64(g.ProofsExpiring) }},
	{gauge("proofs_lapsed", "Publishers that would be published had their authority not lapsed."), func(g app.Gauges) float64 { return float64(g.ProofsLapsed) }},
	{gauge("key_seconds", "Time until the registry key in use ends; 0 when none can sign."), func(g app.Gauges) float64 { return g.RegistryKey.Seconds() }},
	{gauge("heads_age_seconds", "Age of the newest complete reading of the heads."), func(g app.Gauges) float64 { return g.Behind.Seconds() }},
}

func gauge(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("sayso_registry_"+name, help, nil, nil)
}

// Describe implements prometheus.Collector.
func (registryGauges) Describe(into chan<- *prometheus.Desc) {
	for _, s := range registrySeries {
		into <- s.desc
	}
}

// Collect implements prometheus.Collector.
func (r registryGauges) Collect(into chan<- prometheus.Metric) {
	g := r.registry.Gauges()
	for _, s := range registrySeries {
		into <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, s.value(g))
	}
}
