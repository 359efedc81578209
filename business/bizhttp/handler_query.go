package bizhttp

import (
	"errors"
	"net/url"

	"sayso/business"
	"sayso/jcs"
)

// serveDiscovery answers with discovery.json.
func (h *handler) serveDiscovery(x *exchange) error {
	published, err := h.publications(x.r.Context(), x.now)
	if err != nil {
		return err
	}
	if err := h.credential(x, ""); err != nil {
		return err
	}
	return x.sendHashed(business.DiscoveryDocument(x.site, published, x.now), typeJSON, cacheShort)
}

// serveQuery answers /discovery/query. The answer is not stored anywhere, because a request may carry the caller's position.
func (h *handler) serveQuery(x *exchange) error {
	published, err := h.publications(x.r.Context(), x.now)
	if err != nil {
		return err
	}
	if err := h.credential(x, ""); err != nil {
		return err
	}
	values, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return &problem{kind: kindRequest, message: "the query string cannot be read"}
	}
	q, err := business.ParseQuery(values)
	if refused := (*business.ParameterError)(nil); errors.As(err, &refused) {
		return &problem{kind: kindRequest, message: refused.Error()}
	}
	body, err := jcs.Encode(q.Answer(x.site, published, x.now))
	if err != nil {
		return err
	}
	return x.send(body, tagOf(body), typeJSON, noStore)
}
