package bizcheck_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"sayso/business"
	"sayso/business/answer"
	"sayso/business/coverage"
	"sayso/jcs"
)

const shopSchema = `{"types":{"service":{"words":{"de":["Leistung"]}}},"attributes":{"price":{"field":"price","kind":"money","currency":"EUR"},"colour":{"kind":"text"}},
	"profile":{"parking":{"kind":"bool"},"pool":{"kind":"bool"}},
	"lists":{"languages":{"nouns":{"de":["Sprachen"]},"values":["de","en"]},
		"payment_methods":{"nouns":{"de":["Zahlungsarten"]},"values":["cash","visa"],"closed":true,"domain":{"terms":["cash","visa","amex","bitcoin"]}}},
	"streams":[{"key":"wait","scoped_by":"location","kind":"quantity","unit":"min","sla_seconds":900,"max_age_seconds":3600}]}`

// tools are one of each handler, under names that are none of a handler.
func tools() (out []business.Tool) {
	for _, handler := range business.Handlers {
		out = append(out, business.Tool{Name: "ask-" + handler, Handler: handler})
	}
	return out
}

// Latest is a reading for each branch.
func (s *site) Latest(string, *coverage.Key, string) (out []answer.Reading, _ error) {
	for i, place := range []string{"main", "east"} {
		out = append(out, answer.Reading{Stream: "wait", Location: place, Value: jcs.Raw([]string{"5", "10"}[i]), ObservedAt: s.now.Add(-s.ageOf), ReceivedAt: s.now.Add(-s.ageOf)})
	}
	return out, nil
}

// call is the MCP endpoint of a publisher.
func (s *site) call(w http.ResponseWriter, r *http.Request, p *business.Publication) error {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		return err
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	result, code := s.answer(p, m.Method, m.Params)
	reply := object{"jsonrpc": "2.0", "id": m.ID}
	if code != 0 {
		reply["error"] = object{"code": code, "message": "refused"}
	} else {
		if s.result != nil {
			var params object
			json.Unmarshal(m.Params, &params)
			s.result(m.Method, params, result)
		}
		reply["result"] = result
	}
	text, err := json.Marshal(reply)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, err = w.Write(append(append([]byte("event: message\ndata: "), text...), "\n\n"...))
	return err
}

// answer is the result of a request, or the code of an error.
func (s *site) answer(p *business.Publication, method string, params []byte) (object, int) {
	var in struct {
		ProtocolVersion string
		Name            string
		Arguments       json.RawMessage
	}
	if json.Unmarshal(params, &in) != nil {
		return nil, -32602
	}
	switch method {
	case "initialize":
		if !slices.Contains(business.MCPVersions, in.ProtocolVersion) {
			in.ProtocolVersion = business.APIVersion
		}
		return object{"protocolVersion": in.ProtocolVersion, "capabilities": object{"tools": object{}}, "serverInfo": object{"name": "site", "version": "1"}}, 0
	case "tools/list":
		list := []any{}
		for _, t := range p.Profile.Tools {
			list = append(list, object{"name": t.Name, "annotations": object{"readOnlyHint": true}, "inputSchema": json.RawMessage(answer.InputSchema(t.Handler, p.Vocabulary()))})
		}
		return object{"tools": list}, 0
	case "tools/call":
		i := slices.IndexFunc(p.Profile.Tools, func(t business.Tool) bool { return t.Name == in.Name })
		if i < 0 {
			return nil, -32602
		}
		text, err := s.sealed(p, coverage.Call{Tool: in.Name, Handler: p.Profile.Tools[i].Handler, Arguments: jcs.Raw(in.Arguments), Now: s.now})
		var fault *coverage.CallError
		switch {
		case errors.As(err, &fault):
			return nil, -32602
		case err != nil:
			return nil, -32603
		}
		return object{"content": []any{object{"type": "text", "text": string(text)}}, "structuredContent": json.RawMessage(text)}, 0
	}
	return nil, -32601
}

// sealed answers a call with a signed envelope.
func (s *site) sealed(p *business.Publication, call coverage.Call) ([]byte, error) {
	if s.compiled[p.Slug] == nil {
		compiled, err := answer.Compile(answer.Snapshot{Publication: p, Records: s.records[p.Slug], Site: s.Site()})
		if err != nil {
			return nil, err
		}
		s.compiled[p.Slug] = compiled
	}
	heard := call
	if s.hear != nil {
		heard.Arguments = s.hear(call)
	}
	out, err := s.compiled[p.Slug].Answer(heard, s)
	if err != nil {
		return nil, err
	}
	text, err := coverage.Frame{Site: s.Site(), Publication: p, Signer: publisherKey(p.Slug), Latency: time.Millisecond}.Seal(call, out)
	if err != nil || s.envelope == nil {
		return text, err
	}
	text = edited(text, func(o object) {
		delete(o, "attestation")
		s.envelope(call, o)
	})
	var times struct {
		SignedAt  time.Time `json:"signed_at"`
		ExpiresAt time.Time `json:"expires_at"`
		JWKS      string    `json:"jwks_url"`
	}
	if err := json.Unmarshal(text, &times); err != nil {
		return nil, err
	}
	text = edited(text, func(o object) {
		for _, name := range []string{"signed_at", "expires_at", "jwks_url", "signing_kid"} {
			delete(o, name)
		}
	})
	return business.SignDocument(text, business.Signing{Signer: publisherKey(p.Slug), SignedAt: times.SignedAt, ExpiresAt: times.ExpiresAt, KeysURL: times.JWKS, KeysName: "jwks_url"})
}
