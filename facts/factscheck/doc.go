// Package factscheck tells from outside whether an origin keeps what Verified Facts 0.2 asks of a publisher.
//
// It sees what every reader sees: documents over HTTP and the published schemas. The level an origin claims in facts.json picks the rules, and
// facts.filtering tells whether it serves (L2 rules apply) or publishes files (they do not). Every rule of [Rules] appears in every report: passed, failed,
// with a warning, or not tested with the reason. A rule that held everywhere is one pass finding with the number of places; failures are listed one by one,
// at most twenty a rule and outcome, after one that counts them all.
//
// The verdict names the highest level that holds: L1 when no VF-L1 rule failed, L2 when no VF-L1 and VF-L2 rule failed, L3 when its base and no VF-L3 rule
// failed. A warning never takes a level away; neither does a single request without an answer, but the verdict counts those and says "as far as it answered".
// A level of which nothing could be looked at does not hold.
//
// # Bounds
//
// Up to 2,000 keys are all fetched; of more, a sample of 500 drawn from Options.Seed and every example. Days and periods are tried on 50 of them, the
// self-resolution audit on 200 spread evenly, aliases on 200. Each source is fetched once, or not at all with Options.NoSources. At most four requests are
// under way; an answer 429, or 503 with Retry-After, is waited for, 60 seconds in all, and what is still refused then is not tested.
//
// # Judgements
//
// A source page that refuses programs (401, 403, 429, 5xx) or does not answer is not tested: that says nothing about the page. Parameters that the seed does not
// settle (VF-L2-008f), a tag that merely begins with the hash, a 304 for a record and a cache lifetime over midnight are warnings. At L3 a record that is
// stale, ended or withdrawn is a warning or a pass, because it is signed truthfully; one dated in the future is a failure.
package factscheck
