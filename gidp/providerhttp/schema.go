package providerhttp

import (
	"strings"

	"sayso/gidp/wire"
	"sayso/jcs"
)

// Schemas returns the JSON Schemas (draft 2020-12) of the documents of the provider protocol by their names: the bodies of requests, the answers, and the
// refusal. A projection in them has its own schema, that of package wire.
func Schemas() map[string][]byte {
	out := map[string][]byte{}
	for _, d := range schemaSources {
		name, rest, _ := strings.Cut(strings.TrimSpace(d), " ")
		text := `{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:sayso:gidp:provider:1:` + name + `","title":"` + name + `",` + expand.Replace(rest)[1:]
		canonical, err := jcs.Canonical([]byte(text))
		if err != nil {
			panic("the schema " + name + " is no JSON: " + err.Error()) // a fault of the source, which every test of this package meets
		}
		out[name] = canonical
	}
	return out
}

var expand = strings.NewReplacer(
	"<key>", `{"type":"object","properties":{"kty":{"const":"OKP"},"crv":{"const":"Ed25519"},"x":{"type":"string","pattern":"^[A-Za-z0-9_-]{43}$"},"alg":{"const":"EdDSA"},"use":{"const":"sig"},"d":false},"required":["kty","crv","x"]}`,
	"<projection>", `{"$ref":"urn:sayso:gidp:0.1:`+string(wire.TypeDiscoveryProjection)+`"}`,
	"<ref>", `{"type":"string","minLength":1,"maxLength":128}`,
	"<labels>", `{"type":"object","additionalProperties":{"type":"array","items":{"type":"string","pattern":"^[a-z0-9][a-z0-9_-]{0,63}$"},"maxItems":16}}`,
	"<texts>", `{"type":"object","additionalProperties":{"type":"string"}}`,
	"<count>", `{"type":"integer","minimum":0}`,
	"<closed>", `"type":"object","additionalProperties":false`,
)

// schemaSources are a name and a schema each. Requests are closed; answers are open, so that a later provider may say more.
var schemaSources = []string{
	`provider-publication {<closed>,"properties":{"key":<key>,"projection":<projection>,"attributes":<labels>,"hierarchies":<texts>},"required":["key","projection"]}`,
	`provider-query {<closed>,"properties":{"key":<key>,"projection":<projection>,"attributes":<labels>,"limit":{"type":"integer","minimum":1},"cursor":{"type":"string","maxLength":128}},"required":["key","projection"]}`,
	`provider-key {<closed>,"properties":{"key":<key>},"required":["key"]}`,
	`provider-report {<closed>,"properties":{"key":<key>,"projection_ref":<ref>,"reason":{"enum":["` + strings.Join(Reasons(), `","`) + `"]}},"required":["key","projection_ref","reason"]}`,
	`provider-receipt {"type":"object","properties":{"projection_ref":<ref>,"withdraw_latency_s":<count>},"required":["projection_ref","withdraw_latency_s"]}`,
	`provider-acknowledgement {"type":"object","properties":{"acknowledged":{"const":true},"effective_by":{"type":"string","format":"date-time"}},"required":["acknowledged","effective_by"]}`,
	`provider-candidates {"type":"object","properties":{"candidates":{"type":"array","maxItems":50,"items":{"type":"object","properties":{"candidate_ref":<ref>,"projection_ref":<ref>},` +
		`"required":["candidate_ref","projection_ref"]}},"cursor":<ref>},"required":["candidates"]}`,
	`provider-resolution {"type":"object","properties":{"endpoint":{"type":"string","format":"uri","maxLength":512},"projection_ref":<ref>},"required":["endpoint","projection_ref"]}`,
	`provider-received {"type":"object","properties":{"received":{"const":true}},"required":["received"]}`,
	`provider-refusal {"type":"object","properties":{"error":{"type":"string"},"message":{"type":"string"}},"required":["error","message"]}`,
	`provider-info {"type":"object","properties":{"protocol":{"const":"` + wire.Version + `"},"origin":{"type":"string"},"withdraw_latency_s":<count>,"dimensions":{"type":"array","items":{"type":"string"}},` +
		`"hierarchies":<texts>,"quotas":{"type":"object","properties":{"window_s":<count>,"network_factor":<count>,"per_key":{"type":"object","additionalProperties":{"type":"object",` +
		`"properties":{"publish_update_withdraw":<count>,"query":<count>,"resolve":<count>,"candidates":<count>},"required":["publish_update_withdraw","query","resolve","candidates"]}}},` +
		`"required":["window_s","network_factor","per_key"]},"max_ttl_days":<count>,"max_page":<count>,"trust_domain":{"type":"string"},"log_retention":{"type":"object","properties":{"holds":{"type":"string"},` +
		`"days":<count>},"required":["holds","days"]},"report_reasons":{"type":"array","items":{"type":"string"}},"federated":{"type":"boolean"}},` +
		`"required":["protocol","origin","withdraw_latency_s","dimensions","hierarchies","quotas","max_ttl_days","max_page","log_retention","report_reasons","federated"]}`,
}
