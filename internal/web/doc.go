// Package web renders the pages people read: facts, their index, the changelog, misses and refusals ([Pages]); and the
// registry's directory, profiles, records, the verify page and refusals ([BusinessPages]).
//
// Every page is one html/template over data taken from a facts.Snapshot or a business.Publication; nothing is stored between
// requests. The two surfaces share layout, style and assets, so that one origin can serve both. The rules all pages keep:
//
//   - readable without JavaScript, at 320 px, at 200 % zoom, in light and dark, by a screen reader;
//   - one strict Content-Security-Policy (CSP): own style sheet and scripts only, no inline style or script, no form target
//     and no connection outside the origin. JSON-LD stands in data blocks, which no browser executes;
//   - figures keep the publisher's digits: the text of facts.Value, never a locale's grouping. Civil dates are printed as
//     their string and never pass through a time zone;
//   - publisher text is text: only absolute https URLs become links.
//
// The registry's pages keep these besides:
//
//   - what the business states and what the registry found stand apart, under these names. The registry found control over a
//     host, or recorded a verification by two operators; no page says more, and none has one sign for all of it;
//   - absent reads "not stated", a published no reads "no", a price that is put off reads as it is put off; 0 is shown when 0 is
//     stated. A location's phone, email and hours are its own;
//   - publisher text is isolated (bdi, dir=auto), so that its direction cannot turn the text around it; keys are shown in the
//     publisher's own words for them, else bare;
//   - four ages stay four rows: data, authority, page, signature;
//   - a profile shows 100 locations and 100 records, the directory 500 businesses; what is left out is counted and linked. A
//     JSON-LD block above 128 KiB is left out. Links to the registry's documents are paths: every host serves them, and a browser
//     asks no other.
//
// xpverify.js verifies manifests and revocation lists and knows no page; xpwords.js words its findings; xppage.js connects
// both with the verify page, which asks its own origin for five documents and a person for the root to pin.
//
// On the facts pages scripts add two things: search as you type (search.js) and "verify in this browser" (verify.js), which fetches the
// record and the publisher's keys and repeats hash and signature verification with WebCrypto, step by step.
package web
