//go:build unix

package pgtest

import "context"

// Server is a cluster for a program that is no test. It lasts until Stop.
type Server struct{ cluster *cluster }

// Start starts a cluster. Without PostgreSQL on the machine it fails.
func Start() (*Server, error) {
	c := &cluster{}
	if err := c.start(); err != nil {
		c.stop()
		return nil, err
	}
	return &Server{c}, nil
}

// Database makes an empty database and returns its address.
func (s *Server) Database(ctx context.Context) (string, error) { return s.cluster.database(ctx) }

// Stop ends the server and removes all of it.
func (s *Server) Stop() { s.cluster.stop() }
