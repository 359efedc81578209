// Verification of X-Protocols manifests and revocation lists, without a page around it: a plain module that runs in a browser and in Node.
//
// JSON.parse is not used: it rounds numbers and keeps the last of two members with one name. Objects become Maps, numbers keep their literal.
// Every finding is {value, reason?}; the values are those of the protocol, the reasons say which check decided.

const maxBytes = 4 << 20;
const maxDepth = 64;
const utf8 = new TextEncoder();

export class Refused extends Error {
  constructor(code) {
    super(code);
    this.code = code; // malformed | unsupported_format | not_a_manifest
  }
}

// ---- The text: a strict reader and the canonical form.

class Literal {
  constructor(text) {
    this.text = text;
  }
}

const escapes = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const shortForms = { '"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const numberForm = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const blankForm = /[ \t\r\n]*/y;
const plainForm = /[^"\\\u0000-\u001f]*/y;

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  take(form) {
    form.lastIndex = this.at;
    const found = form.exec(this.text);
    if (!found) throw new Refused("malformed");
    this.at += found[0].length;
    return found[0];
  }

  // next skips blanks and returns the character that stands there.
  next() {
    this.take(blankForm);
    return this.text[this.at];
  }

  expect(c) {
    if (this.next() !== c) throw new Refused("malformed");
    this.at++;
  }

  value(depth) {
    const c = this.next();
    if (c === '"') return this.string();
    if (c === "{" || c === "[") {
      if (depth === maxDepth) throw new Refused("malformed");
      return c === "{" ? this.object(depth + 1) : this.array(depth + 1);
    }
    for (const [word, v] of [["true", true], ["false", false], ["null", null]]) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return v;
      }
    }
    return new Literal(this.take(numberForm));
  }

  string() {
    this.expect('"');
    let out = "";
    for (;;) {
      out += this.take(plainForm);
      const c = this.text[this.at++];
      if (c === '"') break;
      if (c !== "\\") throw new Refused("malformed");
      const e = this.text[this.at++];
      if (e === "u") out += String.fromCharCode(parseInt(this.take(/[0-9a-fA-F]{4}/y), 16));
      else if (e !== undefined && Object.hasOwn(escapes, e)) out += escapes[e];
      else throw new Refused("malformed");
    }
    if (!out.isWellFormed()) throw new Refused("malformed");
    return out;
  }

  // list reads what stands between two brackets; each reads one element.
  list(open, close, each) {
    this.expect(open);
    if (this.next() === close) {
      this.at++;
      return;
    }
    for (;;) {
      each();
      if (this.next() === close) break;
      this.expect(",");
    }
    this.at++;
  }

  object(depth) {
    const out = new Map();
    this.list("{", "}", () => {
      this.next();
      const name = this.string();
      if (out.has(name)) throw new Refused("malformed");
      this.expect(":");
      out.set(name, this.value(depth));
    });
    return out;
  }

  array(depth) {
    const out = [];
    this.list("[", "]", () => out.push(this.value(depth)));
    return out;
  }
}

// textOf is what bytes say in UTF-8; bytes that are none, or begin with a byte order mark, are a text that parse refuses.
export function textOf(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return "";
  }
}

// parse reads one JSON text strictly: no duplicate member, no lone surrogate, at most 64 levels and 4 MiB.
export function parse(text) {
  if (utf8.encode(text).length > maxBytes) throw new Refused("malformed");
  const r = new Reader(text);
  const out = r.value(0);
  if (r.next() !== undefined) throw new Refused("malformed");
  return out;
}

// byCodePoint orders names as their UTF-8 bytes would; JavaScript's own order is that of UTF-16 units.
function byCodePoint([a], [b]) {
  const rank = (unit) => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800);
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

const quote = (s) =>
  `"${s.replace(/["\\\u0000-\u001f\u2028\u2029]/g, (c) => shortForms[c] ?? `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)}"`;

// canonical writes a parsed value in the form that is signed: no blanks, members by code point, numbers as received, U+2028 and U+2029
// escaped. without names a member of the outermost object that is left out.
export function canonical(v, without) {
  if (v instanceof Literal) return v.text;
  if (typeof v === "string") return quote(v);
  if (Array.isArray(v)) return `[${v.map((e) => canonical(e)).join(",")}]`;
  if (!(v instanceof Map)) return String(v);
  const members = [...v].filter(([name]) => name !== without).sort(byCodePoint);
  return `{${members.map(([name, e]) => `${quote(name)}:${canonical(e)}`).join(",")}}`;
}

// ---- Values.

const member = (o, name) => (o instanceof Map ? o.get(name) : undefined);
const string = (o, name) => {
  const v = member(o, name);
  return typeof v === "string" ? v : "";
};
const object = (o, name) => {
  const v = member(o, name);
  return v instanceof Map ? v : undefined;
};
const finding = (value, reason) => (reason ? { value, reason } : { value });
const bytesEqual = (a, b) => a.length === b.length && a.every((v, i) => v === b[i]);
const digestOf = async (text) => new Uint8Array(await crypto.subtle.digest("SHA-256", utf8.encode(text)));

// instant is nanoseconds since 1970 as a BigInt, undefined for what is no RFC 3339 time.
export function instant(s) {
  const m = typeof s === "string" && s.length <= 64 &&
    /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))$/.exec(s);
  if (!m) return undefined;
  const [year, month, day, hour, minute, second] = m.slice(1, 7).map(Number);
  const [zoneHour, zoneMinute] = [Number(m[9] ?? 0), Number(m[10] ?? 0)];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!exists || hour > 23 || minute > 59 || second > 59 || zoneHour > 23 || zoneMinute > 59) return undefined;
  const zone = (m[8] === "-" ? -1 : 1) * (zoneHour * 60 + zoneMinute);
  const seconds = BigInt(date.getTime() / 1000 + hour * 3600 + (minute - zone) * 60 + second);
  return seconds * 1_000_000_000n + BigInt((m[7] ?? "").slice(0, 9).padEnd(9, "0"));
}

const encode64 = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

// decode64 is strict base64url: no padding, no other alphabet, no stray bits. undefined for anything else.
function decode64(text, length) {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined;
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  return bytes.length === length && encode64(bytes) === text ? bytes : undefined;
}

// ---- Keys.

const prime = 2n ** 255n - 19n;
// The y coordinates of the points of small order: under such a key a signature proves nothing.
const smallOrder = new Set([0n, 1n, prime - 1n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n, 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n]);

// usable refuses keys under which a signature says nothing, and encodings that name a point twice.
function usable(bytes) {
  const y = bytes.reduceRight((sum, b) => (sum << 8n) | BigInt(b), 0n) & (2n ** 255n - 1n);
  return y < prime && !smallOrder.has(y);
}

async function verifies(publicKey, digest, signature) {
  if (!usable(publicKey)) return false;
  let key;
  try {
    key = await crypto.subtle.importKey("raw", publicKey, { name: "Ed25519" }, false, ["verify"]);
  } catch (e) {
    if (e.name === "NotSupportedError") throw e;
    return false; // the bytes are no point of the curve
  }
  return crypto.subtle.verify({ name: "Ed25519" }, key, signature, digest);
}

// supported says whether this program has Ed25519 at all.
export async function supported() {
  try {
    const basePoint = new Uint8Array(32).fill(0x66);
    basePoint[0] = 0x58;
    await crypto.subtle.importKey("raw", basePoint, { name: "Ed25519" }, false, ["verify"]);
    return true;
  } catch {
    return false;
  }
}

// thumbprint is the RFC 7638 thumbprint of an Ed25519 key given as base64url.
export const thumbprint = async (x) => encode64(await digestOf(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`));

// pinned reads what a person pastes as the root to trust: a public JWK, its x, or its thumbprint. A thumbprint needs the key itself, which
// may come from the registry's own list because only the right key has that thumbprint. undefined stands for nothing pasted.
export async function pinned(text, registryKeys) {
  text = text.trim();
  if (text === "") return undefined;
  if (text.startsWith("{")) {
    const jwk = parse(text);
    if (member(jwk, "d") !== undefined) throw new Refused("private_key");
    const bytes = decode64(string(jwk, "x"), 32);
    if (string(jwk, "kty") !== "OKP" || string(jwk, "crv") !== "Ed25519" || !bytes) throw new Refused("no_root_key");
    return bytes;
  }
  const bytes = decode64(text, 32);
  if (!bytes) throw new Refused("no_root_key");
  for (const entry of keySet(registryKeys).entries.values()) {
    const x = string(entry, "x");
    if (decode64(x, 32) && (await thumbprint(x)) === text) return decode64(x, 32);
  }
  return bytes;
}

// keySet reads registry-keys.json or jwks.json. A set that names a kid twice is none.
function keySet(evidence) {
  const none = (fault, absent = false) => ({ fault, absent, registry: "", entries: new Map() });
  if (!evidence) return none("keys_missing", true);
  if (evidence.error) return none(evidence.error === "net_refused" ? "net_refused" : "keys_unavailable");
  let top;
  try {
    top = parse(evidence.text);
  } catch {
    return none("keys_malformed");
  }
  const keys = member(top, "keys");
  if (!Array.isArray(keys)) return none("keys_malformed");
  const set = { fault: "", absent: false, registry: string(top, "registry"), entries: new Map() };
  for (const entry of keys) {
    const kid = string(entry, "kid");
    if (!(entry instanceof Map) || set.entries.has(kid)) return none("keys_malformed");
    if (kid) set.entries.set(kid, entry);
  }
  return set;
}

// keyOf returns the bytes of a key, or why there are none.
function keyOf(set, kid) {
  if (set.fault) return { fault: set.fault };
  const entry = set.entries.get(kid);
  if (!entry) return { fault: "unknown_key" };
  const atMost = (name, want) => !entry.has(name) || entry.get(name) === want;
  const bytes = decode64(string(entry, "x"), 32);
  const good = bytes && usable(bytes) && string(entry, "kty") === "OKP" && string(entry, "crv") === "Ed25519" && atMost("use", "sig") && atMost("alg", "EdDSA");
  return good ? { bytes, entry } : { fault: "bad_key" };
}

// seal reads a signature block up to the arithmetic.
function seal(block, digest) {
  const [alg, stated, text] = ["alg", "digest", "signature"].map((name) => member(block, name));
  if (typeof alg !== "string") return { fault: "malformed_attestation" };
  if (alg !== "Ed25519") return { fault: "unsupported_alg" };
  if (typeof stated !== "string" || typeof text !== "string") return { fault: "malformed_attestation" };
  const [claimed, signature] = [decode64(stated, 32), decode64(text, 64)];
  if (!claimed || !signature) return { fault: "bad_encoding" };
  return bytesEqual(claimed, digest) ? { signature } : { fault: "digest_mismatch" };
}

async function holds(block, digest, publicKey) {
  const { signature } = seal(block, digest);
  return signature !== undefined && publicKey !== undefined && verifies(publicKey, digest, signature);
}

// ---- Documents.

async function read(text) {
  const top = parse(text);
  if (!(top instanceof Map)) throw new Refused("malformed");
  const version = top.get("protocol_x_version");
  if (version !== undefined && version !== "1.0") throw new Refused("unsupported_format");
  let kind = "other";
  if (version !== undefined && top.has("endpoints") && top.has("authenticity")) kind = "manifest";
  else if (!["coverage", "result", "tool"].some((name) => top.has(name)) && top.has("entries") && top.has("issued_at")) kind = "revocations";
  return {
    kind,
    top,
    signed: top.has("attestation"),
    block: object(top, "attestation"),
    digest: await digestOf(canonical(top, "attestation")),
    publisher: kind === "revocations" ? string(top, "publisher") : string(object(top, "publisher"), "tenant"),
    signedAt: instant(member(top, "signed_at")),
  };
}

// mirror compares the members that stand in the payload and in the attestation, as they are written.
function mirror(d) {
  if (!d.signed) return finding("not_applicable");
  const pairs = [
    ["signing_kid", "kid", "kid_differs"],
    ["signed_at", "signed_at", "signed_at_differs"],
    ["registry_keys_url", "jwks_url", "keys_url_differs"],
    ["expires_at", "expires_at", "expires_at_differs"],
  ];
  for (const [inside, outside, fault] of pairs) {
    const [payload, block] = [member(d.top, inside), member(d.block, outside)];
    if (outside === "expires_at" && block === undefined && (payload !== undefined || d.kind === "revocations")) continue;
    if (payload === undefined || block === undefined || canonical(payload) !== canonical(block)) return finding("mismatch", fault);
  }
  return finding("ok");
}

// Verification holds the evidence of one run: {registryKeys, publisherKeys, registryList, publisherList: {text} or {error}, root: bytes or
// undefined, publisher: slug asked for, at and skew: nanoseconds}.
class Verification {
  constructor(evidence) {
    Object.assign(this, evidence);
    this.registry = keySet(evidence.registryKeys);
    this.publisherSet = keySet(evidence.publisherKeys);
  }

  async signature(d) {
    if (!d.signed) return finding("absent", "no_attestation");
    if (!d.block) return finding("invalid", "malformed_attestation");
    const { fault, signature } = seal(d.block, d.digest);
    if (fault) return finding(fault === "unsupported_alg" ? "unsupported" : "invalid", fault);
    // A manifest that a publisher key signed is right as bytes and wrong as a manifest; identity says so.
    const kid = string(d.block, "kid");
    let key = keyOf(this.registry, kid);
    if (key.fault) {
      const other = keyOf(this.publisherSet, kid);
      if (!other.fault) key = other;
    }
    if (key.fault === "unknown_key" || key.fault === "bad_key") return finding("invalid", key.fault);
    if (key.fault) return finding("unsupported", "key_unavailable");
    return (await verifies(key.bytes, d.digest, signature)) ? finding("valid") : finding("invalid", "signature_wrong");
  }

  async identity(d) {
    if (!d.signed) return finding("unconfirmed", "unsigned");
    if (d.publisher === "") return finding("broken_chain", "no_publisher");
    if (this.publisher && d.publisher !== this.publisher) return finding("mismatch", "other_publisher");
    const fault = await this.chain(string(d.block, "kid"), d);
    if (fault === "keys_missing") return finding("unconfirmed", fault); // not looked for: nothing is known to be broken
    if (fault) return finding("broken_chain", fault === "unknown_key" ? "not_a_registry_key" : fault);
    return this.root ? finding("confirmed") : finding("unconfirmed", "no_pinned_root");
  }

  // chain follows a registry key to the pinned root. Without a root the last link is not looked at.
  async chain(kid, d) {
    if (!this.root && this.registry.absent) return "";
    const { fault, bytes, entry } = keyOf(this.registry, kid);
    if (fault) return fault;
    if (string(entry, "role") !== "signing") return this.root && bytesEqual(bytes, this.root) ? "root_signs_entries_only" : "not_a_signing_key";
    const unrooted = await this.rooted(kid, entry);
    if (unrooted) return unrooted;
    const until = instant(string(entry, "not_after"));
    if (d.signedAt === undefined) return "signed_at_unreadable";
    return until === undefined || d.signedAt > until ? "registry_key_expired" : "";
  }

  // rooted verifies the root's signature over exactly seven members, whatever the entry lists as covered.
  async rooted(kid, entry) {
    if (!this.root) return "";
    if (!usable(this.root)) return "root_unusable";
    const block = object(entry, "root_signature");
    if (!block) return "no_root_signature";
    const signed = new Map([["kid", kid], ["public_key", string(entry, "x")], ["alg", string(entry, "crv")], ["registry", this.registry.registry],
      ...["role", "created_at", "not_after"].map((name) => [name, string(entry, name)])]);
    return (await holds(block, await digestOf(canonical(signed)), this.root)) ? "" : "root_signature_wrong";
  }

  authority(d) {
    if (d.signed || d.top.has("expires_at")) {
      const expires = instant(string(d.top, "expires_at"));
      if (expires === undefined) return finding("not_stated", "expiry_not_stated");
      if (this.at >= expires) return finding("expired", "document_expired");
    }
    const [publisher, proof] = [object(d.top, "publisher"), object(d.top, "verification")];
    const until = instant(string(proof, "valid_until"));
    if (until !== undefined && this.at >= until) return finding("expired", "proof_lapsed");
    const proven = instant(string(publisher, "authority_verified_at"));
    if (proven !== undefined) return proven > this.at + this.skew ? finding("not_proven", "proof_in_future") : finding("current");
    const observed = member(proof, "domain_verified") === true && string(proof, "verified_host") && string(proof, "method");
    if (observed && until !== undefined) return finding("current");
    const denied = member(publisher, "website_verified") === false || member(proof, "domain_verified") === false;
    return denied ? finding("not_proven", "no_proof") : finding("not_stated", "proof_not_stated");
  }

  // list reads and verifies a revocation list; over is the registry's own when this one is a publisher's. A list that cannot be verified
  // speaks in neither direction; a stale one still withdraws what it withdraws.
  async list(evidence, publisher, over) {
    if (!evidence) return { fault: "list_missing" };
    if (evidence.error) return { fault: evidence.error === "net_refused" ? "net_refused" : "list_unavailable" };
    let d;
    try {
      d = await read(evidence.text);
    } catch (e) {
      if (e instanceof Refused) return { fault: "list_malformed" };
      throw e;
    }
    const content = d.kind === "revocations" && listContent(d, over !== undefined);
    if (!content) return { fault: "list_malformed" };
    const fault = await this.listFault(d, content, publisher, over);
    if (fault) return { fault };
    const age = this.at - content.issuedAt;
    const late = age > content.maxAge ? "list_stale" : age < -this.skew ? "list_in_future" : "";
    return { ...content, verified: true, fault: late };
  }

  async listFault(d, content, publisher, over) {
    if (over === undefined ? d.top.has("publisher") : publisher === "" || d.publisher !== publisher) return "list_of_other";
    if (!d.signed) return "list_unsigned";
    if (mirror(d).value !== "ok") return "list_mirror_mismatch";
    const kid = string(d.block, "kid");
    if (!(await holds(d.block, d.digest, keyOf(this.registry, kid).bytes))) return "list_signature_wrong";
    if (await this.chain(kid, d)) return "list_chain_broken";
    for (const { raw } of this.root ? content.entries : []) {
      const block = raw.get("root_signature");
      if (block !== undefined && !(await holds(block, await digestOf(canonical(raw, "root_signature")), this.root))) return "list_entry_forged";
    }
    const self = { ...content, verified: true };
    return [self, over].some((l) => l && withdrawsKey(l, kid, d.signedAt)) ? "list_signer_revoked" : "";
  }

  // revocation: revoked, then not checked, then incomplete, then clean. asOf is when the older of the verified lists was issued.
  revocation(d, lists) {
    let [revoked, unmatched, asOf] = ["", 0, undefined];
    for (const list of lists.filter((l) => l.verified)) {
      if (asOf === undefined || list.issuedAt < asOf) asOf = list.issuedAt;
      for (const entry of list.entries.filter((e) => covers(e, d.signedAt))) {
        if (!entry.matchable) unmatched++;
        else if (names(entry, d)) revoked ||= `${entry.scope}_revoked`;
      }
    }
    const fault = lists.map((l) => l.fault).find(Boolean);
    let out = finding("clean");
    if (revoked) out = finding("revoked", revoked);
    else if (fault) out = finding("not_checked", fault);
    else if (unmatched > 0) out = { ...finding("incomplete", "unmatched_entries"), count: unmatched };
    return asOf === undefined ? out : { ...out, asOf };
  }
}

// The scopes of each list, with the member that holds their target.
const targets = {
  registry: { registry_key: "subject", publisher: "subject" },
  publisher: { key: "kid", tenant: "", entity: "entity_key", digest: "digest" },
};

function listContent(d, publisherList) {
  const [issuedAt, age, entries] = [instant(string(d.top, "issued_at")), member(d.top, "max_age_seconds"), member(d.top, "entries")];
  if (issuedAt === undefined || !(age instanceof Literal) || !/^\d{1,9}$/.test(age.text) || !Array.isArray(entries)) return undefined;
  const known = targets[publisherList ? "publisher" : "registry"];
  const out = [];
  for (const raw of entries) {
    const scope = member(raw, "scope");
    if (typeof scope !== "string") return undefined;
    const name = Object.hasOwn(known, scope) ? known[scope] : undefined;
    const target = name ? member(raw, name) : "";
    out.push({
      raw, scope, target, matchable: name !== undefined && typeof target === "string",
      from: instant(string(raw, "revoked_from")), until: instant(string(raw, "revoked_until")),
    });
  }
  return { issuedAt, maxAge: BigInt(age.text) * 1_000_000_000n, entries: out };
}

// covers: both bounds are inclusive, an absent one is open, and an instant that is not known lies in every window.
const covers = (entry, t) => t === undefined || ((entry.from === undefined || t >= entry.from) && (entry.until === undefined || t <= entry.until));

const withdrawsKey = (list, kid, t) =>
  list.verified === true && list.entries.some((e) => e.matchable && e.scope === "registry_key" && e.target === kid && covers(e, t));

// names reports whether an entry names a manifest. It carries no records, so an entry about one withdraws nothing of it.
function names(entry, d) {
  switch (entry.scope) {
    case "publisher":
      return d.publisher !== "" && entry.target === d.publisher;
    case "tenant":
      return true;
    case "registry_key":
    case "key":
      return entry.target === string(d.block, "kid") || entry.target === string(d.top, "signing_kid");
    case "digest":
      return entry.target === encode64(d.digest) || entry.target === string(d.block, "digest");
  }
  return false;
}

// verifyManifest judges a manifest against the evidence. Every part is judged whatever the others say. It throws Refused for a text that is
// no manifest.
export async function verifyManifest(text, evidence) {
  const d = await read(text);
  if (d.kind !== "manifest") throw new Refused("not_a_manifest");
  const v = new Verification(evidence);
  const registryList = await v.list(evidence.registryList, "");
  const publisherList = await v.list(evidence.publisherList, d.publisher, registryList);
  return {
    publisher: d.publisher,
    expiresAt: string(d.top, "expires_at"),
    signature: await v.signature(d),
    identity: await v.identity(d),
    authority: v.authority(d),
    revocation: v.revocation(d, [registryList, publisherList]),
    mirror: mirror(d),
  };
}
