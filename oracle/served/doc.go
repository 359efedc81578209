// Package served judges what sayso serves by other implementations: Node's crypto with npm jose and canonicalize verify our
// records and sign records for us to verify; the MCP conformance suite and the inspector talk to the endpoint and to the
// stdio server; an OpenAPI validator reads the descriptions.
//
// The conformance baselines (internal/mcpserve/testdata) name every scenario that is expected to fail, each with its reason. A scenario
// that passes although it is listed fails the test.
package served
