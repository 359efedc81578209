package server

import (
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are the series of one server. Labels are closed sets.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	limited  prometheus.Counter
	panics   prometheus.Counter
	reloads  *prometheus.CounterVec

	mu     sync.RWMutex // guards routes
	routes map[string]*routeSeries
}

func newMetrics() *metrics {
	m := &metrics{
		routes:   map[string]*routeSeries{},
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sayso_requests_total", Help: "Answers by route pattern and status class."}, []string{"route", "class"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sayso_request_seconds", Help: "Time to answer by route pattern.", Buckets: []float64{.0001, .0005, .001, .005, .01, .05, .1, .5, 1, 5}}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "sayso_requests_in_flight", Help: "Requests being answered."}),
		limited:  prometheus.NewCounter(prometheus.CounterOpts{Name: "sayso_rate_limited_total", Help: "Requests refused by the rate limit."}),
		panics:   prometheus.NewCounter(prometheus.CounterOpts{Name: "sayso_panics_total", Help: "Requests and reloads that ended in a panic."}),
		reloads:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sayso_reloads_total", Help: "Reloads by result."}, []string{"result"}),
	}
	m.registry.MustRegister(m.requests, m.duration, m.inFlight, m.limited, m.panics, m.reloads,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, result := range []string{"loaded", "refused"} {
		m.reloads.WithLabelValues(result)
	}
	return m
}

var classes = [...]string{"none", "1xx", "2xx", "3xx", "4xx", "5xx"}

// routeSeries are the series of one route, looked up once: labels are hashed at every look-up.
type routeSeries struct {
	requests [len(classes)]prometheus.Counter
	duration prometheus.Observer
}

func (m *metrics) observe(pattern string, status int, took time.Duration) {
	class := status / 100
	if class >= len(classes) {
		class = 0
	}
	series := m.series(pattern)
	series.requests[class].Inc()
	series.duration.Observe(took.Seconds())
}

func (m *metrics) series(pattern string) *routeSeries {
	m.mu.RLock()
	series := m.routes[pattern]
	m.mu.RUnlock()
	if series != nil {
		return series
	}
	series = &routeSeries{duration: m.duration.WithLabelValues(pattern)}
	for i, class := range classes {
		series.requests[i] = m.requests.WithLabelValues(pattern, class)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.routes[pattern] = series
	return series
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
