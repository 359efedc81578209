// Package web renders the pages people read: facts, their index, the changelog, misses and refusals.
//
// Every page is one html/template over data taken from a facts.Snapshot; nothing is stored between requests. The rules
// all pages keep:
//
//   - readable without JavaScript, at 320 px, at 200 % zoom, in light and dark, by a screen reader;
//   - one strict Content-Security-Policy (CSP): own style sheet and scripts only, no inline style or script, no form target
//     and no connection outside the origin. JSON-LD stands in data blocks, which no browser executes;
//   - figures keep the publisher's digits: the text of facts.Value, never a locale's grouping. Civil dates are printed as
//     their string and never pass through a time zone;
//   - publisher text is text: only absolute https URLs become links.
//
// Scripts add two things: search as you type (search.js) and "verify in this browser" (verify.js), which fetches the
// record and the publisher's keys and repeats hash and signature verification with WebCrypto, step by step.
package web
