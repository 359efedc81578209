package server

import (
	"io"
	"log/slog"
	"net/http"
	"net/url"
)

// NewLogger returns a logger of JSON or text lines. Values that may carry what a log must not keep are replaced by their type: header sets and bodies by a
// note, URLs by scheme, host and path. Secrets and private keys mask themselves in every format.
func NewLogger(w io.Writer, level slog.Level, json bool) *slog.Logger {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: redact}
	if json {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

func redact(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindAny {
		return a
	}
	switch v := a.Value.Any().(type) {
	case http.Header, url.Values, *http.Request, *http.Response, []byte:
		a.Value = slog.StringValue("[not logged]")
	case *url.URL:
		a.Value = slog.StringValue((&url.URL{Scheme: v.Scheme, Host: v.Host, Path: v.Path}).String())
	}
	return a
}
