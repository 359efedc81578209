package gidpa2a

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"

	"sayso/jcs"
	"sayso/jwk"
)

// The constants of every card. They are ASCII, not empty and not a default, because verifiers of different SDKs disagree on what such values are signed as (sec. 2).
const (
	cardName        = "GIDP agent"
	cardDescription = "Answers for a principal over the GIDP extension. It speaks no other language."
	cardVersion     = "0.1"
	cardCache       = "max-age=3600"
	extensionText   = "Private conditional interests, GIDP 0.1: objects travel in the metadata of messages and artifacts."
)

// card is an A2A 1.0 AgentCard.
type card struct {
	Name               string           `json:"name"`
	Description        string           `json:"description"`
	Version            string           `json:"version"`
	Interfaces         []cardInterface  `json:"supportedInterfaces"`
	Capabilities       cardCapabilities `json:"capabilities"`
	DefaultInputModes  []string         `json:"defaultInputModes"`
	DefaultOutputModes []string         `json:"defaultOutputModes"`
	Skills             []cardSkill      `json:"skills"`
	Signatures         []cardSignature  `json:"signatures,omitempty"`
}

type cardInterface struct {
	URL     string `json:"url"`
	Binding string `json:"protocolBinding"`
	Version string `json:"protocolVersion"`
}

type cardCapabilities struct {
	Streaming  bool            `json:"streaming"`
	Extensions []cardExtension `json:"extensions"`
}

type cardExtension struct {
	URI         string     `json:"uri"`
	Description string     `json:"description"`
	Params      cardParams `json:"params"`
}

type cardParams struct {
	Profiles []string `json:"profiles"`
}

type cardSkill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
}

type cardSignature struct {
	Protected string `json:"protected"`
	Signature string `json:"signature"`
}

// makeCard writes the card of a reference canonically. Cards of one server differ in URL and signature alone.
func makeCard(base, uri string, profiles []string, signer *jwk.PrivateKey) ([]byte, error) {
	text := []string{"text/plain"}
	c := card{
		Name: cardName, Description: cardDescription, Version: cardVersion,
		Interfaces: []cardInterface{{base + "/rpc", "JSONRPC", a2aVersion}, {base + "/v1", "HTTP+JSON", a2aVersion}},
		Capabilities: cardCapabilities{
			Streaming:  true,
			Extensions: []cardExtension{{URI: uri, Description: extensionText, Params: cardParams{profiles}}},
		},
		DefaultInputModes: text, DefaultOutputModes: text,
		Skills: []cardSkill{{ID: "gidp", Name: cardName, Description: cardDescription, Tags: []string{"gidp"}}},
	}
	unsigned, err := canonical(c)
	if err != nil || signer == nil {
		return unsigned, err
	}
	// A detached JWS of package jws with typ beside alg and kid, which A2A asks for.
	protected := jwk.EncodeBase64URL([]byte(`{"alg":"EdDSA","kid":"` + signer.Kid() + `","typ":"JOSE"}`))
	signature := signer.Sign([]byte(protected + "." + jwk.EncodeBase64URL(unsigned)))
	c.Signatures = []cardSignature{{protected, jwk.EncodeBase64URL(signature)}}
	return canonical(c)
}

func canonical(v any) ([]byte, error) {
	data, err := jcs.Encode(v)
	if err != nil {
		return nil, err
	}
	return jcs.Canonical(data)
}

// serveCard answers for every well-formed reference, live or not.
func (h *handler) serveCard(w http.ResponseWriter, r *http.Request, ref string) {
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		plain(w, http.StatusMethodNotAllowed, "method_not_allowed", "a card is read with GET")
		return
	}
	data, err := makeCard(h.origin+"/a2a/"+ref, h.names.uri, h.profiles, h.signer)
	if err != nil {
		h.report("card", err)
		plain(w, http.StatusServiceUnavailable, "unavailable", textUnavailable)
		return
	}
	sum := sha256.Sum256(data)
	etag := `"` + hex.EncodeToString(sum[:16]) + `"`
	header.Set("Cache-Control", cardCache)
	header.Set("ETag", etag)
	if known := strings.Split(r.Header.Get("If-None-Match"), ","); slices.ContainsFunc(known, func(s string) bool {
		s = strings.TrimSpace(s)
		return s == "*" || strings.TrimPrefix(s, "W/") == etag
	}) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", "application/json")
	_, _ = w.Write(data)
}

// plain answers what stands outside A2A: an error that names no agent and no task.
func plain(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(`{"error":"` + code + `","message":"` + message + `"}`)) // constants
}
