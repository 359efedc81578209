package server

import (
	"net/http"
	"reflect"

	"sayso/internal/app"
)

// adminRoute is one row of the table that the dispatcher, the description and the test of authorisation are made from.
type adminRoute struct {
	method, pattern string // the pattern is what follows adminBase
	summary         string
	operations      []app.Operation // of app.Rules, one of which the call is; nil = no token is needed
	query           []parameter
	handling
}

// parameter is one that the query may hold.
type parameter struct{ name, kind, enum, desc string }

// handling is what is read, done and answered.
type handling struct {
	in    reflect.Type // of a JSON body, nil when none is read
	types []string     // content types of a body that is no JSON object of a Go type
	out   reflect.Type
	made  bool // something new is answered with 201
	serve func(*call) (any, error)
}

func (h handling) answerStatus() int {
	if h.made {
		return http.StatusCreated
	}
	return http.StatusOK
}

// with handles a request with a JSON body.
func with[B, A any](f func(*call, B) (A, error)) handling {
	return handling{in: reflect.TypeFor[B](), out: reflect.TypeFor[A](), serve: func(c *call) (any, error) {
		in, err := read[B](c)
		if err != nil {
			return nil, err
		}
		return f(c, in)
	}}
}

// plain handles a request without a body.
func plain[A any](f func(*call) (A, error)) handling {
	return handling{out: reflect.TypeFor[A](), serve: func(c *call) (any, error) {
		if c.r.ContentLength != 0 {
			return nil, refused(http.StatusBadRequest, "invalid_body", "no body is expected here")
		}
		return f(c)
	}}
}

// raw handles a request whose body is a document of the protocol, which its own reader judges.
func raw[A any](f func(*call, []byte) (A, error)) handling {
	return handling{types: []string{"application/json"}, out: reflect.TypeFor[A](), serve: func(c *call) (any, error) {
		data, err := c.bytes()
		if err != nil {
			return nil, err
		}
		return f(c, data)
	}}
}

func made(h handling) handling {
	h.made = true
	return h
}

func ops(list ...app.Operation) []app.Operation { return list }

const publisher = "/publishers/{slug}"

var (
	limitParameter = parameter{"limit", "integer", "", "how many at most, 1 to 1000; 100 when absent"}
	listParameters = []parameter{{"after", "string", "", "the name behind which the list begins"}, limitParameter}
	auditQuery     = []parameter{{"after", "integer", "", "the sequence number behind which the list begins"}, limitParameter}
	liveQuery      = []parameter{{"stream", "string", "", "only this stream; all when absent"}}
	importQuery    = []parameter{
		{"mode", "string", "replace|merge", "what becomes of records that are not in the body: replace removes them, merge keeps them; replace when absent"},
		{"dry_run", "boolean", "", "report, and change nothing"},
		{"skip_invalid", "boolean", "", "commit the valid rows; the evidence counts as incomplete until a complete import"},
	}
)

// adminRoutes is the table.
func adminRoutes() []adminRoute {
	return []adminRoute{
		{"GET", "/openapi.json", "this description", nil, nil, plain(describeAdmin)},
		{"GET", "/registry", "origin, keys, root, counts and engine", ops(app.OpReadRegistryKeys), nil, plain(readRegistry)},
		{"POST", "/registry/keys/prepare", "make a registry key; the answer is its entry for the root to sign", ops(app.OpPrepareRegistryKey), nil, made(plain(prepareKey))},
		{"POST", "/registry/keys", "install an entry that the root has signed", ops(app.OpInstallRegistryKey), nil, with(installKey)},
		{"POST", "/registry/revocations", "list a registry key as revoked; the root has signed the entry", ops(app.OpRevokeRegistryKey), nil, with(revokeRegistryKey)},
		{"GET", "/audit", "acts on the registry and on every publisher", ops(app.OpReadRegistryAudit), auditQuery, plain(readRegistryAudit)},
		{"GET", "/tokens", "operators' tokens", ops(app.OpReadOperatorTokens), nil, plain(readOperatorTokens)},
		{"POST", "/tokens", "make a token of an operator; it is shown once", ops(app.OpCreateOperatorToken), nil, made(with(createOperatorToken))},
		{"DELETE", "/tokens/{id}", "revoke a token of an operator and all made with it", ops(app.OpRevokeOperatorToken), nil, plain(revokeOperatorToken)},

		{"GET", "/publishers", "publishers in the order of their names", ops(app.OpListPublishers), listParameters, plain(listPublishers)},
		{"POST", "/publishers", "create a publisher", ops(app.OpCreatePublisher), nil, made(with(createPublisher))},
		{"GET", publisher, "lifecycle, standing, state, proof, quota", ops(app.OpReadPublisher), nil, plain(readPublisher)},
		{"POST", publisher + "/import", "import one file of records, or a bundle", ops(app.OpImport), importQuery, importing()},
		{"GET", publisher + "/lint", "what is allowed and will be answered badly", ops(app.OpLint), nil, plain(lint)},
		{"POST", publisher + "/coverage", "which questions the content answers, and what is missing for the others; nothing is changed", ops(app.OpCoverage), nil, with(coverage)},
		{"GET", publisher + "/profile", "the profile as publisher.json holds it", ops(app.OpReadPublisher), nil, plain(readProfile)},
		{"PUT", publisher + "/profile", "replace the profile", ops(app.OpSetProfile), nil, raw(setProfile)},
		{"GET", publisher + "/schema", "the vocabulary, schema.json", ops(app.OpReadPublisher), nil, plain(readSchema)},
		{"PUT", publisher + "/schema", "replace the vocabulary", ops(app.OpSetSchema), nil, raw(setSchema)},
		{"DELETE", publisher + "/schema", "remove the vocabulary", ops(app.OpSetSchema), nil, plain(removeSchema)},
		{"GET", publisher + "/locations", "the locations alone", ops(app.OpReadPublisher), nil, plain(readLocations)},
		{"PUT", publisher + "/locations", "replace the locations", ops(app.OpSetLocations), nil, raw(setLocations)},
		{"GET", publisher + "/calendar", "the holiday calendar, calendar.json", ops(app.OpReadPublisher), nil, plain(readCalendar)},
		{"PUT", publisher + "/calendar", "replace the holiday calendar", ops(app.OpSetCalendar), nil, raw(setCalendar)},
		{"DELETE", publisher + "/calendar", "remove the holiday calendar", ops(app.OpSetCalendar), nil, plain(removeCalendar)},

		{"GET", publisher + "/live", "the latest readings, at most 1000", ops(app.OpReadReadings), liveQuery, plain(readLive)},
		{"POST", publisher + "/live", "push one reading as JSON, or one on each line", ops(app.OpPushReadings), nil, pushing()},

		{"GET", publisher + "/proofs", "attempts to prove a host", ops(app.OpReadProofs), nil, plain(readProofs)},
		{"POST", publisher + "/proofs", "begin to prove a host; the value to publish is shown once", ops(app.OpStartProof), nil, made(with(startProof))},
		{"POST", publisher + "/proofs/check", "look for the value of the newest attempt", ops(app.OpCheckProof), nil, with(checkProof)},
		{"POST", publisher + "/verification", "record that an operator has verified the business", ops(app.OpRecordVerification), nil, with(recordVerification)},
		{"POST", publisher + "/verification/{decision}/confirm", "confirm it as a second operator", ops(app.OpConfirmVerification), nil, with(confirmVerification)},
		{"DELETE", publisher + "/verification/{decision}", "take a verification back", ops(app.OpRejectVerification), nil, plain(withdrawVerification)},

		{"POST", publisher + "/publish", "make the content public", ops(app.OpPublish), nil, act((*app.Registry).Publish)},
		{"POST", publisher + "/pause", "close every channel of content", ops(app.OpPause), nil, act((*app.Registry).Pause)},
		{"POST", publisher + "/resume", "open them again", ops(app.OpResume), nil, act((*app.Registry).Resume)},
		{"POST", publisher + "/suspend", "close every channel by decision of an operator", ops(app.OpSuspend), nil, with(suspend)},
		{"POST", publisher + "/unsuspend", "take a suspension back", ops(app.OpUnsuspend), nil, act((*app.Registry).Unsuspend)},
		{"POST", publisher + "/withdraw", "end the publisher for good: an owner asks for it, an operator completes it", ops(app.OpRequestWithdrawal, app.OpWithdraw), nil, with(withdraw)},

		{"GET", publisher + "/keys", "signing keys in the order of their creation", ops(app.OpReadKeys), nil, plain(readKeys)},
		{"POST", publisher + "/keys/rotate", "sign with a new key from now on", ops(app.OpRotateKey), nil, act((*app.Registry).RotateKey)},
		{"POST", publisher + "/keys/{kid}/revoke", "list a key as revoked", ops(app.OpRevokeKey), nil, with(revokeKey)},
		{"POST", publisher + "/revocations", "revoke what one record ever said, or one signed document", ops(app.OpRevokeEntity, app.OpRevokeDigest), nil, with(revoke)},

		{"GET", publisher + "/tokens", "tokens; an owner sees its own and those made with it", ops(app.OpReadTokens), nil, plain(readTokens)},
		{"POST", publisher + "/tokens", "make a token; it is shown once", ops(app.OpCreateToken), nil, made(with(createToken))},
		{"DELETE", publisher + "/tokens/{id}", "revoke a token and all made with it", ops(app.OpRevokeToken), nil, plain(revokeToken)},
		{"PUT", publisher + "/delegation", "let operators edit, or end that", ops(app.OpDelegate), nil, with(delegate)},
		{"PUT", publisher + "/quota", "bound what the publisher may hold; an absent number stands for the default", ops(app.OpSetQuota), nil, with(setQuota)},
		{"PUT", publisher + "/hosts/{host}", "let a host route to the publisher", ops(app.OpSetHost), nil, plain(setHost)},
		{"DELETE", publisher + "/hosts/{host}", "end that", ops(app.OpRemoveHost), nil, plain(removeHost)},
		{"GET", publisher + "/audit", "acts on the publisher", ops(app.OpReadAudit), auditQuery, plain(readAudit)},
	}
}

func importing() handling {
	return handling{types: importTypes, out: reflect.TypeFor[*app.ImportResult](), serve: func(c *call) (any, error) { return importRecords(c) }}
}

func pushing() handling {
	return handling{types: liveTypes, out: reflect.TypeFor[*app.LiveReceipt](), serve: func(c *call) (any, error) { return pushLive(c) }}
}
