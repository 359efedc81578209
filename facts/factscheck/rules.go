package factscheck

import (
	"slices"
	"strings"

	"sayso/report"
)

// rules is the closed list of what the checker looks at (F§12). Each title says what holds when the rule passes.
var rules = withSections([]report.Rule{
	{ID: "VF-L1-001a", Title: "facts.json is served as strict JSON"},
	{ID: "VF-L1-001b", Title: "facts.json fits its schema"},
	{ID: "VF-L1-001c", Title: "facts.json names a readable protocol version"},
	{ID: "VF-L1-001d", Title: "a publisher that claims only L1 says filtering client"},
	{ID: "VF-L1-001e", Title: "facts.count is the sum of the namespace counts"},
	{ID: "VF-L1-001f", Title: "URLs in facts.json are absolute https URLs of the publisher"},
	{ID: "VF-L1-002a", Title: "the index fits its schema"},
	{ID: "VF-L1-002b", Title: "the index counts its entries and lists each key once"},
	{ID: "VF-L1-002c", Title: "every index entry has a well-formed hash"},
	{ID: "VF-L1-002d", Title: "the index has as many keys as facts.json says"},
	{ID: "VF-L1-003a", Title: "every key answers 200 with application/json"},
	{ID: "VF-L1-003b", Title: "every record is for the key asked for"},
	{ID: "VF-L1-003c", Title: "every record's hash is the hash of its claim"},
	{ID: "VF-L1-003d", Title: "every record's hash is the one in the index"},
	{ID: "VF-L1-003e", Title: "every record fits its schema, nullable members present"},
	{ID: "VF-L1-003f", Title: "static records need no status and no ageDays"},
	{ID: "VF-L1-004a", Title: "every source is an https URL"},
	{ID: "VF-L1-004b", Title: "every source host is an authority of its namespace"},
	{ID: "VF-L1-004c", Title: "every source answers 200"},
	{ID: "VF-L1-005a", Title: "the changes discovery document fits its schema"},
	{ID: "VF-L1-005b", Title: "the changes discovery document names facts.json"},
	{ID: "VF-L1-005c", Title: "the changelog fits its schema, newest first, each entry once"},
	{ID: "VF-L1-005d", Title: "every changelog entry is about a key of the index"},
	{ID: "VF-L1-006a", Title: "every key follows the grammar"},
	{ID: "VF-L1-006b", Title: "every key and alias is unique"},
	{ID: "VF-L1-006c", Title: "every alias answers with its key and requestedKey"},
	{ID: "VF-L1-007a", Title: "generated is the newest verifiedDate of index and changelog"},
	{ID: "VF-L1-007b", Title: "two fetches give the same bytes"},
	{ID: "VF-L2-008a", Title: "facts.filtering is server"},
	{ID: "VF-L2-008b", Title: "a served publisher has batch, resolve, openapi and dated records"},
	{ID: "VF-L2-008c", Title: "status follows max_age"},
	{ID: "VF-L2-008d", Title: "as_of chooses the value in force, last day inclusive"},
	{ID: "VF-L2-008e", Title: "a period that is not held is covered false with the periods held"},
	{ID: "VF-L2-008f", Title: "wrong parameters are refused with 400"},
	{ID: "VF-L2-009a", Title: "resolve answers a question"},
	{ID: "VF-L2-009b", Title: "candidates are sorted by score, then key"},
	{ID: "VF-L2-009c", Title: "a key scores 1 and an alias 0.95"},
	{ID: "VF-L2-009d", Title: "an ambiguous label does not resolve"},
	{ID: "VF-L2-009e", Title: "keys answer to their own words"},
	{ID: "VF-L2-010a", Title: "a batch of 50 keys is answered"},
	{ID: "VF-L2-010b", Title: "a batch of 51 keys is refused with 400"},
	{ID: "VF-L2-010c", Title: "a miss inside a batch stands in its place"},
	{ID: "VF-L2-010d", Title: "a batch keeps the order of the request"},
	{ID: "VF-L2-010e", Title: "a batch is stale when one of its records is"},
	{ID: "VF-L2-011a", Title: "an unknown key is 404 with candidates"},
	{ID: "VF-L2-011b", Title: "a miss is not stored by caches"},
	{ID: "VF-L2-011c", Title: "an unknown key over MCP is covered false, not an error"},
	{ID: "VF-L2-012a", Title: "ETag is the hash"},
	{ID: "VF-L2-012b", Title: "Last-Modified is verifiedDate"},
	{ID: "VF-L2-012c", Title: "records have a text and an HTML form"},
	{ID: "VF-L2-012d", Title: "a conditional request does not hide today's age"},
	{ID: "VF-L2-012e", Title: "caches may not keep a record over midnight UTC"},
	{ID: "VF-L2-012f", Title: "answers may be read from any web page (CORS)"},
	{ID: "VF-L2-013a", Title: "openapi.json is an OpenAPI 3 document"},
	{ID: "VF-L2-013b", Title: "openapi.json has the four operations"},
	{ID: "VF-L2-013c", Title: "every operation of openapi.json routes"},
	{ID: "VF-L2-014a", Title: "MCP lists the three tools"},
	{ID: "VF-L2-014b", Title: "the MCP tools are annotated as read-only"},
	{ID: "VF-L2-014c", Title: "the MCP server card is served"},
	{ID: "VF-L2-014d", Title: "tools/list stays within 2.6 KB"},
	{ID: "VF-L3-015a", Title: "every record's hash is valid"},
	{ID: "VF-L3-015b", Title: "every record's signature is valid"},
	{ID: "VF-L3-015c", Title: "every record's key is acceptable"},
	{ID: "VF-L3-015d", Title: "every record's claim is current"},
	{ID: "VF-L3-016a", Title: "keys is a JWK Set of usable Ed25519 keys"},
	{ID: "VF-L3-016b", Title: "every key has validFrom"},
	{ID: "VF-L3-016c", Title: "every kid is unique"},
	{ID: "VF-L3-016d", Title: "the key set holds no private member"},
	{ID: "VF-L3-016e", Title: "the key policy is published"},
	{ID: "VF-L3-017a", Title: "every changelog entry carries the hash of its state"},
	{ID: "VF-L3-017b", Title: "the changelog is a chain that ends in chainHead"},
	{ID: "VF-L3-017c", Title: "the history of the changelog can be audited"},
	{ID: "VF-L3-018a", Title: "the publisher says how it checks itself"},
	{ID: "VF-L3-018b", Title: "the publisher's last check of itself is recent"},
})

func withSections(list []report.Rule) []report.Rule {
	for i := range list {
		list[i].Section = "F§12 item " + strings.TrimLeft(list[i].ID[6:9], "0")
	}
	return list
}

// Rules is the rule table, sorted by id. The slice is the caller's.
func Rules() []report.Rule { return slices.Clone(rules) }

// levelOf is "L1", "L2" or "L3" of a rule id.
func levelOf(rule string) string { return rule[3:5] }
