package gidpcheck

import (
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/gidp/wire"
	"sayso/report"
)

// memoryRows is a provider's database in memory.
type memoryRows struct {
	mu     sync.Mutex // guards the rest
	rows   map[provider.Ref]provider.Row
	feed   []provider.Row
	secret [32]byte
}

func (m *memoryRows) All(context.Context) (iter.Seq2[provider.Row, error], int64, error) {
	return func(func(provider.Row, error) bool) {}, 0, nil
}

func (m *memoryRows) Commit(_ context.Context, row provider.Row) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if row.Revision != m.rows[row.Ref].Revision+1 {
		return providerhttp.ErrStale
	}
	m.rows[row.Ref] = row
	m.feed = append(m.feed, row)
	return nil
}

func (m *memoryRows) Projection(_ context.Context, ref provider.Ref) (provider.Row, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	row, ok := m.rows[ref]
	return row, ok, nil
}

func (m *memoryRows) OfKey(_ context.Context, key provider.Thumbprint) (provider.Row, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, row := range m.rows {
		if row.Owner == key {
			return row, true, nil
		}
	}
	return provider.Row{}, false, nil
}

func (m *memoryRows) Changes(_ context.Context, position int64, limit int) ([]provider.Row, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rows := slices.Clone(m.feed[position:min(len(m.feed), int(position)+limit)])
	return rows, position + int64(len(rows)), nil
}

func (m *memoryRows) Expire(context.Context, time.Time, int) error                { return nil }
func (m *memoryRows) AddReport(context.Context, providerhttp.Report) error        { return nil }
func (m *memoryRows) PutBan(context.Context, providerhttp.Ban) error              { return nil }
func (m *memoryRows) Bans(context.Context) ([]providerhttp.Ban, error)            { return nil, nil }
func (m *memoryRows) Secret(context.Context, [32]byte) ([32]byte, error)          { return m.secret, nil }
func (m *memoryRows) Reports(context.Context, int) ([]providerhttp.Report, error) { return nil, nil }

// live are the projections that are not withdrawn.
func (m *memoryRows) live() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, row := range m.rows {
		n += count(!row.Withdrawn && row.Expires.After(Epoch.Add(time.Hour)))
	}
	return n
}

func checkProvider(t *testing.T, l lie) (*report.Report, *memoryRows) {
	t.Helper()
	return checkProviderIn(t, t.Context(), l)
}

func checkProviderIn(t *testing.T, ctx context.Context, l lie) (*report.Report, *memoryRows) {
	t.Helper()
	clock, rows := &hand{now: Epoch}, &memoryRows{rows: map[provider.Ref]provider.Row{}, secret: [32]byte{1}}
	origin := serve(t, l, func(origin string) http.Handler {
		s, err := providerhttp.New(t.Context(), providerhttp.Options{Rows: rows, Origin: origin, Now: clock.Now, Random: &lockedBytes{}, Poll: 5 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = s.Run(ctx) }()
		t.Cleanup(func() { cancel(); <-ended })
		return s.Handler()
	})
	r, err := Check(ctx, origin, Options{Now: clock.Now, Pause: clock.Pause})
	if err != nil {
		t.Fatal(err)
	}
	return r, rows
}

// lockedBytes is fixed for several readers.
type lockedBytes struct {
	mu sync.Mutex // guards n
	n  uint64
}

func (l *lockedBytes) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range p {
		if i%32 == 0 {
			l.n++
		}
		sum := sha256.Sum256([]byte(fmt.Sprint(l.n)))
		p[i] = sum[i%32]
	}
	return len(p), nil
}

func TestProviderThatConforms(t *testing.T) {
	r, rows := checkProvider(t, lie{})
	if r.Failed() || !slices.Equal(outcomes(r, report.NotTested), []string{"GP-QUOTA-001"}) || rows.live() > 0 {
		t.Errorf("%s, %d are left\n%+v", r.Verdict, rows.live(), r.Findings)
	}
	t.Log(r.Verdict)
}

var providerLies = []lie{
	{rule: "GP-INFO-001", after: func(x *exchanged) { x.match(`"max_page":\d+`, `"max_page":5000`) }},
	{rule: "GP-PUBLISH-001", after: func(x *exchanged) {
		if x.w.status == http.StatusCreated {
			x.match(`"withdraw_latency_s":\d+`, `"withdraw_latency_s":1`)
		}
	}},
	{rule: "GP-SIGN-001", after: func(x *exchanged) {
		if x.w.status == http.StatusUnauthorized && x.Header.Get("Signature") == "" {
			x.put(http.StatusAccepted, `{}`)
		}
	}},
	{rule: "GP-SIGN-002", after: func(x *exchanged) {
		if s := x.Header.Get("Signature"); s != "" && x.nth(s) > 1 {
			x.put(http.StatusOK, `{}`)
		}
	}},
	{rule: "GP-FOREIGN-001", after: func(x *exchanged) {
		if x.Method == http.MethodPut && x.w.status == http.StatusNotFound {
			x.put(http.StatusOK, `{}`)
		}
	}},
	{rule: "GP-QUERY-001", after: func(x *exchanged) {
		if x.has(`"limit":10}`) && x.w.status == http.StatusOK && x.nth("query") == 1 {
			x.put(http.StatusOK, `{"candidates":[]}`)
		}
	}},
	{rule: "GP-QUERY-002", after: func(x *exchanged) { x.swap(`{"candidates":`, `{"total":1,"candidates":`) }},
	{rule: "GP-QUERY-003", after: func(x *exchanged) {
		if x.has(`"limit":10}`) && x.nth("query") == 1 {
			x.swap(`{"candidates":[`, `{"candidates":[`+strings.Repeat(`{"candidate_ref":"a","projection_ref":"b"},`, 10))
		}
	}},
	{rule: "GP-QUERY-004", after: func(x *exchanged) {
		if strings.HasSuffix(x.URL.Path, "/candidates") && x.has(`"*"`) {
			x.put(http.StatusOK, `{"candidates":[]}`)
		}
	}},
	{rule: "GP-RESOLVE-001", after: func(x *exchanged) {
		if strings.HasSuffix(x.URL.Path, "/resolve") && x.failed() && x.nth("resolve") == 1 {
			x.put(http.StatusOK, `{}`)
		}
	}},
	{rule: "GP-UPDATE-001", after: func(x *exchanged) {
		if x.Method == http.MethodPut && x.w.status == http.StatusOK {
			x.match(`"projection_ref":"..`, `"projection_ref":"zz`)
		}
	}},
	{rule: "GP-REFUSE-001", after: func(x *exchanged) {
		if x.has(`"principal_identity":"check"`) {
			x.put(http.StatusAccepted, `{}`)
		}
	}},
	{rule: "GP-REFUSE-002", after: func(x *exchanged) {
		if x.has(`"http://check.invalid`) {
			x.put(http.StatusAccepted, `{}`)
		}
	}},
	{rule: "GP-BODY-001", after: func(x *exchanged) {
		if strings.HasSuffix(x.body, " {}") {
			x.put(http.StatusAccepted, `{}`)
		}
	}},
	{rule: "GP-ERROR-001", after: func(x *exchanged) {
		if x.w.status == http.StatusUnprocessableEntity {
			x.put(x.w.status, `{"message":"no"}`)
		}
	}},
	{rule: "GP-WITHDRAW-001", after: func(x *exchanged) { x.swap(`"acknowledged":true`, `"acknowledged":false`) }},
	{rule: "GP-WITHDRAW-002", before: func(r *http.Request, body []byte) []byte {
		if r.Method == http.MethodDelete {
			r.URL.Path = providerhttp.Base + "projections/00000000000000000000000000000000"
		}
		return body
	}, after: func(x *exchanged) {
		if x.Method == http.MethodDelete && x.nth("delete") > 1 {
			x.put(http.StatusAccepted, `{"acknowledged":true,"effective_by":"`+wire.FormatTime(Epoch.Add(time.Minute))+`"}`)
		}
	}},
	{rule: "GP-EXPIRY-001", after: func(x *exchanged) {
		if x.has(`_e"]`, `"limit":10}`) {
			x.swap(`{"candidates":[`, `{"candidates":[{"candidate_ref":"a","projection_ref":"b"}`)
		}
	}},
	{rule: "GP-QUOTA-001", after: func(x *exchanged) {
		if x.Method == http.MethodPut && x.w.status == http.StatusNotFound {
			x.put(http.StatusTooManyRequests, `{"error":"quota","message":"later"}`)
		}
	}},
}

func TestProvidersThatBreakOneRule(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range providerLies {
		seen[l.rule] = true
		t.Run(l.rule, func(t *testing.T) {
			t.Parallel()
			if r, _ := checkProvider(t, l); !slices.Equal(outcomes(r, report.Fail), []string{l.rule}) {
				t.Errorf("%v are broken, want %s: %+v", outcomes(r, report.Fail), l.rule, r.Findings)
			}
		})
	}
	for _, r := range rules {
		if strings.HasPrefix(r.id, "GP") && !seen[r.id] {
			t.Errorf("no provider breaks %s", r.id)
		}
	}
}

// A check that is ended takes back what it has published.
func TestEndedCheckLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, rows := checkProviderIn(t, ctx, lie{after: func(x *exchanged) {
		if strings.HasSuffix(x.URL.Path, "/resolve") {
			cancel()
		}
	}})
	if rows.live() > 0 || len(rows.rows) == 0 || len(outcomes(r, report.NotTested)) == 0 {
		t.Errorf("%d of %d projections are left: %s", rows.live(), len(rows.rows), r.Verdict)
	}
}

// A provider that takes what it should not is left without it.
func TestWhatIsTakenByMistakeIsTakenBack(t *testing.T) {
	_, rows := checkProvider(t, lie{before: func(_ *http.Request, body []byte) []byte { return body }, after: func(x *exchanged) {
		if x.w.status == http.StatusUnauthorized {
			x.put(http.StatusCreated, `{"projection_ref":"00000000000000000000000000000000","withdraw_latency_s":60}`)
		}
	}})
	if rows.live() > 0 {
		t.Errorf("%d projections are left", rows.live())
	}
}

// What a provider may refuse is no failure of it.
func TestProviderThatRefusesTheEndpoint(t *testing.T) {
	r, _ := checkProvider(t, lie{after: func(x *exchanged) {
		if x.w.status == http.StatusCreated {
			x.put(http.StatusUnprocessableEntity, `{"error":"refused","message":"its name does not lead to public addresses alone"}`)
		}
	}})
	if got := outcomes(r, report.NotTested); r.Failed() || !slices.Contains(got, "GP-PUBLISH-001") || !slices.Contains(got, "GP-WITHDRAW-002") {
		t.Errorf("%v are not tested: %+v", got, r.Findings)
	}
	for _, f := range r.Findings {
		if f.Rule == "GP-PUBLISH-001" && !strings.Contains(f.Reason, "endpoint") {
			t.Errorf("%+v: the reason is not told", f)
		}
	}
}
