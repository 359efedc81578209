package server

import (
	"time"

	"sayso/business"
	"sayso/business/bundle"
	"sayso/internal/app"
	"sayso/jcs"
)

// Bodies. A member without omitempty or omitzero is required; enum lists what a string may be, desc is for the description.

type publisherInput struct {
	Slug        string  `json:"slug" desc:"1 to 63 of a-z 0-9 and -; never used again"`
	DisplayName string  `json:"display_name"`
	Region      string  `json:"region,omitempty" desc:"published as the publisher's region"`
	Delegated   bool    `json:"delegated,omitzero" desc:"the business lets operators edit from the start"`
	Account     jcs.Raw `json:"account,omitempty" desc:"object with the contact of the account holder, for operators only"`
}

type reasonInput struct {
	Reason string `json:"reason,omitempty" desc:"for the audit trail, never published"`
}

type suspensionInput struct {
	Reason string `json:"reason" desc:"for the audit trail and operators, never published"`
}

type withdrawalInput struct {
	Reason string `json:"reason,omitempty" desc:"for the audit trail, never published; required of an operator whom the owner has not asked"`
	Code   string `json:"code,omitempty" enum:"error|key_compromise|other|superseded|withdrawn" desc:"published on both revocation lists; withdrawn when absent"`
}

type hostInput struct {
	Host   string `json:"host"`
	Method string `json:"method" enum:"dns_txt|well_known"`
}

type decisionInput struct {
	Decision string `json:"decision" desc:"identity of the decision in the operators' files"`
	Reason   string `json:"reason,omitempty" desc:"for the audit trail, never published"`
}

type keyRevocationInput struct {
	Reason string    `json:"reason" enum:"error|key_compromise|other|superseded|withdrawn" desc:"published"`
	From   time.Time `json:"from,omitzero" desc:"first signed_at that is revoked; unbounded when absent"`
	Until  time.Time `json:"until,omitzero" desc:"last signed_at that is revoked; unbounded when absent"`
	Note   string    `json:"note,omitempty" desc:"for the audit trail, never published"`
}

func (in keyRevocationInput) input(operation string) app.RevokeInput {
	return app.RevokeInput{Code: in.Reason, From: in.From, Until: in.Until, Note: in.Note, Operation: operation}
}

type entityInput struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

type revocationInput struct {
	Entity *entityInput `json:"entity,omitempty" desc:"either this or digest"`
	Digest string       `json:"digest,omitempty" desc:"of the attestation of one signed document"`
	keyRevocationInput
}

type tokenInput struct {
	Scopes []string `json:"scopes" enum:"import|publish|keys|live"`
	Name   string   `json:"name,omitempty"`
}

type operatorInput struct {
	Name string `json:"name" desc:"the operator's name; 1 to 64 of A-Z a-z 0-9 . _ @ -"`
}

type delegationInput struct {
	Delegated bool `json:"delegated"`
}

type signedKeyInput struct {
	Entry business.RegistryKey `json:"entry"`
}

type signedRevocationInput struct {
	Entry business.RevocationEntry `json:"entry"`
}

// Answers.

type registryView struct {
	Origin     string                `json:"origin"`
	Root       *business.RegistryKey `json:"root,omitempty" desc:"the pin of readers: compare it with the file root.pub.json"`
	Keys       []app.KeyView         `json:"keys"`
	Publishers int                   `json:"publishers"`
	Published  int                   `json:"published"`
	Engine     string                `json:"engine" desc:"database and number of its schema"`
	Checks     []app.Check           `json:"checks"`
}

type publisherList struct {
	Publishers []app.PublisherSummary `json:"publishers"`
	Next       string                 `json:"next,omitempty" desc:"value of after for the next page; absent on the last one"`
}

type auditPage struct {
	Entries []app.AuditEntry `json:"entries"`
	Next    int64            `json:"next,omitzero" desc:"value of after for the next page; absent on the last one"`
}

type tokenList struct {
	Tokens []app.TokenView `json:"tokens"`
}

type keyList struct {
	Keys []app.KeyView `json:"keys"`
}

type proofList struct {
	Proofs []app.ProofView `json:"proofs"`
}

type readingList struct {
	Readings []app.ReadingView `json:"readings"`
	More     int               `json:"more,omitzero" desc:"readings that are not listed; ask for one stream"`
}

type problemList struct {
	Problems []bundle.Problem `json:"problems"`
}

// documentReceipt is the receipt of a document with the warnings about it.
type documentReceipt struct {
	app.Receipt
	Problems []bundle.Problem `json:"problems,omitempty"`
}

// document is a document of the protocol, as text.
type document []byte
