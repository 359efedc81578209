package demo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// adminTimeout is how long one call of the admin API may take.
const adminTimeout = 15 * time.Second

// office is the admin API as the walks use it.
type office struct {
	ctx    context.Context
	origin string
	client *http.Client
}

func newOffice(ctx context.Context, origin string) *office {
	return &office{ctx, origin, &http.Client{Timeout: adminTimeout}}
}

func (o *office) close() { o.client.CloseIdleConnections() }

// send posts a body with a token and shows members of the answer, when some are named. shown is the body as the step tells it.
func (o *office) send(s *Step, token, path, contentType string, body []byte, shown string, status int, members ...string) []byte {
	s.Request, s.Body = "POST "+o.origin+"/api/v1"+path, shown
	request, err := http.NewRequestWithContext(o.ctx, http.MethodPost, o.origin+"/api/v1"+path, bytes.NewReader(body))
	if err != nil {
		s.expect(false, "%v", err)
		return nil
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if len(body) > 0 {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := o.client.Do(request)
	if err != nil {
		s.expect(false, "%v", err)
		return nil
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	s.expect(err == nil, "the answer could not be read: %v", err)
	s.expect(response.StatusCode == status, "the status is %d, not %d: %s", response.StatusCode, status, text(answer, "message"))
	if len(members) > 0 {
		s.Answer = append(s.Answer, clip(fmt.Sprintf("%d %s", response.StatusCode, pick(answer, members...))))
	}
	return answer
}
