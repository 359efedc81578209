package server

import (
	"io"
	"time"

	"sayso/internal/app"
)

// AdminRoute is what tests see of a row of the table.
type AdminRoute struct {
	Method, Pattern string // Pattern as documented, with the base
	Operations      []app.Operation
	Body            bool // one is needed
}

// AdminRoutes is the table.
func AdminRoutes() []AdminRoute {
	var out []AdminRoute
	for _, r := range adminRoutes() {
		out = append(out, AdminRoute{r.method, adminBase + r.pattern, r.operations, r.types != nil || r.in != nil && len(requiredMembers(r.in)) > 0})
	}
	return out
}

// SetPatience changes how long a part of a body may take, before the server runs.
func (s *Server) SetPatience(d time.Duration) { s.patience = d }

// SetTimeouts changes how long the public listener waits, before the server runs.
func (s *Server) SetTimeouts(d time.Duration) { s.public.ReadTimeout, s.public.WriteTimeout = d, d }

// Unpack reads an archive as an import does.
func Unpack(from io.Reader) (map[string][]byte, error) {
	var s spool
	defer s.close()
	if err := s.unpack(from); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name := range s.files {
		f, err := s.Open(name)
		if err != nil {
			return nil, err
		}
		if files[name], err = io.ReadAll(f); err != nil {
			return nil, err
		}
	}
	return files, nil
}
