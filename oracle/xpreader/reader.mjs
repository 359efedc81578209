// A reader of X-Protocols documents. Standard input: JSON Lines, first the evidence ({"evidence": {...}} each), then the vectors; standard output: one line of
// findings for each vector.
import { createHash, createPublicKey, verify as verifySignature } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Literal, Malformed, canonical, parse } from './canon.mjs';

const SKEW = 60n * 1_000_000_000n;

class Refused extends Error {
  constructor(code, rule) {
    super(code);
    this.error = rule ? { code, rule } : { code };
  }
}

const finding = (value, reason) => (reason ? { value, reason } : { value });
const member = (o, name) => (o instanceof Map ? o.get(name) : undefined);
const string = (o, name) => {
  const v = member(o, name);
  return typeof v === 'string' ? v : undefined;
};
const map = (o, name) => {
  const v = member(o, name);
  return v instanceof Map ? v : undefined;
};
const sha256 = (text) => createHash('sha256').update(text, 'utf8').digest();
const same = (a, b) => canonical(a) === canonical(b);

// instant is nanoseconds since 1970, undefined for what is no RFC 3339 time. Digits behind the ninth are cut off.
function instant(s) {
  const m = typeof s === 'string' && s.length <= 64 && /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))$/.exec(s);
  if (!m) return undefined;
  const [year, month, day, hour, minute, second] = m.slice(1, 7).map(Number);
  const zone = m[8] === undefined ? 0 : (m[8] === '-' ? -1 : 1) * (Number(m[9]) * 60 + Number(m[10]));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const real = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!real || hour > 23 || minute > 59 || second > 59 || Number(m[9] ?? 0) > 23 || Number(m[10] ?? 0) > 59) return undefined;
  const seconds = BigInt(date.getTime() / 1000 + hour * 3600 + (minute - zone) * 60 + second);
  return seconds * 1_000_000_000n + BigInt((m[7] ?? '').slice(0, 9).padEnd(9, '0'));
}

// base64url is strict: no padding, no other alphabet, no stray bits.
function base64url(s, length) {
  const bytes = Buffer.from(s, 'base64url');
  return bytes.toString('base64url') === s && bytes.length === length ? bytes : undefined;
}

function holdsOver(digest, signature, x) {
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verifySignature(null, digest, key, signature);
}

// seal returns the signature of a block that states this digest, or the fault that makes it worthless.
function seal(block, digest) {
  const alg = string(block, 'alg');
  if (alg === undefined) return { fault: 'malformed_attestation' };
  if (alg !== 'Ed25519') return { fault: 'unsupported_alg' };
  const [stated, text] = [string(block, 'digest'), string(block, 'signature')];
  if (stated === undefined || text === undefined) return { fault: 'malformed_attestation' };
  const [claimed, signature] = [base64url(stated, 32), base64url(text, 64)];
  if (claimed === undefined || signature === undefined) return { fault: 'bad_encoding' };
  return claimed.equals(digest) ? { signature } : { fault: 'digest_mismatch' };
}

const holds = (block, digest, x) => {
  const { signature } = seal(block, digest);
  return signature !== undefined && x !== undefined && holdsOver(digest, signature, x);
};

// document reads a text and says what it is.
function document(text) {
  let top;
  try {
    top = parse(text);
  } catch (e) {
    if (!(e instanceof Malformed)) throw e;
    const [first, ...rest] = text.split('\n');
    if (rest.join('\n').trim() !== '') {
      try {
        if (member(parse(first), '_meta') !== undefined) return { kind: 'unknown', top: new Map(), signed: false };
      } catch {
        // not the export either
      }
    }
    throw new Refused('malformed');
  }
  if (!(top instanceof Map)) throw new Refused('malformed');
  const kind = kindOf(top);
  if (kind === 'envelope') coverage(top);
  const block = member(top, 'attestation');
  return {
    kind,
    top,
    signed: block !== undefined,
    block: block instanceof Map ? block : undefined,
    publisher: (kind === 'revocations' ? string(top, 'publisher') : string(map(top, 'publisher'), 'tenant')) ?? '',
    keysName: kind === 'envelope' ? 'jwks_url' : 'registry_keys_url',
    digest: sha256(canonical(top, 'attestation')),
    signedAt: instant(member(top, 'signed_at')),
  };
}

function kindOf(top) {
  const version = top.get('protocol_x_version');
  if (version !== undefined && version !== '1.0') throw new Refused('unsupported_format', 'XP-VERSION-001');
  if (version !== undefined && top.has('endpoints') && top.has('authenticity')) return 'manifest';
  if (top.has('coverage') || top.has('result') || top.has('tool')) return 'envelope';
  if (top.has('entries') && top.has('issued_at')) return 'revocations';
  if (version !== undefined || top.has('_meta')) return 'unknown';
  throw new Refused('unsupported_format', 'XP-VERSION-001');
}

function coverage(top) {
  const c = map(top, 'coverage');
  const status = string(c, 'status');
  if (!['resolved', 'partial', 'needs_context', 'not_covered'].includes(status)) throw new Refused('unsupported_format', 'XP-COVERAGE-010');
  const unresolved = member(c, 'unresolved') ?? [];
  if (member(c, 'unresolved') === null || !Array.isArray(unresolved)) throw new Refused('malformed');
  const full = member(c, 'covered') === true && member(c, 'answers_request') === true && unresolved.length === 0;
  if ((status === 'resolved') !== full) throw new Refused('coverage_invariant', 'XP-COVERAGE-001');
}

// keySet reads registry-keys.json or jwks.json.
function keySet(evidence) {
  if (evidence === undefined) return { fault: 'keys_missing', absent: true };
  if (evidence.error) return { fault: evidence.error === 'net_refused' ? 'net_refused' : 'keys_unavailable' };
  let top;
  try {
    top = parse(evidence.document);
  } catch {
    return { fault: 'keys_malformed' };
  }
  const keys = member(top, 'keys');
  if (!Array.isArray(keys)) return { fault: 'keys_malformed' };
  const set = { registry: string(top, 'registry') ?? '', entries: new Map() };
  for (const entry of keys) {
    const kid = string(entry, 'kid');
    if (!(entry instanceof Map) || set.entries.has(kid)) return { fault: 'keys_malformed' };
    if (kid) set.entries.set(kid, entry);
  }
  return set;
}

// key returns the text x of a usable key.
function key(set, kid) {
  if (set.fault) return { fault: set.fault };
  const entry = set.entries.get(kid);
  if (entry === undefined) return { fault: 'unknown_key' };
  const optional = (name, want) => !entry.has(name) || entry.get(name) === want;
  const x = string(entry, 'x');
  const usable = x !== undefined && base64url(x, 32) && string(entry, 'kty') === 'OKP' && string(entry, 'crv') === 'Ed25519';
  return usable && optional('use', 'sig') && optional('alg', 'EdDSA') ? { x, entry } : { fault: 'bad_key' };
}

class Reader {
  constructor(vector, evidence) {
    const get = (name) => (name === '' ? undefined : evidence.get(name));
    this.vector = vector;
    this.root = vector.root ?? undefined;
    this.at = instant(vector.at);
    this.registry = keySet(get(vector.registry_keys));
    this.publisher = keySet(get(vector.publisher_keys));
    this.registryList = get(vector.revocations);
    this.publisherList = get(vector.publisher_list);
  }

  judge() {
    const d = document(this.vector.document);
    if (d.kind === 'revocations' && d.publisher === '') this.registryList ??= { document: this.vector.document };
    const registryList = this.list(this.registryList, '');
    const lists = [registryList];
    if (d.kind !== 'revocations') lists.push(this.list(this.publisherList, d.publisher ?? '', registryList));
    const out = {
      kind: d.kind,
      signature: this.signature(d),
      identity: this.identity(d, registryList),
      authority: this.authority(d),
      revocation: this.revocation(d, lists),
      call: this.call(d),
      mirror: mirror(d),
    };
    return { ...out, usable: this.usable(d, out) };
  }

  signature(d) {
    if (!d.signed) return finding('absent', d.kind === 'unknown' ? 'unsigned_kind' : 'no_attestation');
    if (d.kind === 'unknown') return finding('unsupported', 'unsigned_kind');
    if (d.block === undefined) return finding('invalid', 'malformed_attestation');
    const { signature, fault } = seal(d.block, d.digest);
    if (fault) return finding(fault === 'unsupported_alg' ? 'unsupported' : 'invalid', fault);
    const kid = string(d.block, 'kid');
    let found = key(d.kind === 'envelope' ? this.publisher : this.registry, kid);
    if (found.fault && d.kind === 'manifest') {
      const other = key(this.publisher, kid);
      if (!other.fault) found = other;
    }
    if (['unknown_key', 'bad_key'].includes(found.fault)) return finding('invalid', found.fault);
    if (found.fault) return finding('unsupported', 'key_unavailable');
    return holdsOver(d.digest, signature, found.x) ? finding('valid') : finding('invalid', 'signature_wrong');
  }

  identity(d, registryList) {
    if (!d.signed) return finding('unconfirmed', 'unsigned');
    if (d.kind === 'unknown') return finding('unconfirmed', 'unsigned_kind');
    if (d.publisher === '' && d.kind !== 'revocations') return finding('broken_chain', 'no_publisher');
    if (this.vector.publisher !== '' && this.vector.publisher !== d.publisher) return finding('mismatch', 'other_publisher');
    let fault;
    if (d.kind === 'envelope') fault = this.publisherChain(d, registryList);
    else {
      fault = this.registryChain(string(d.block, 'kid'), d);
      if (fault === 'unknown_key') fault = 'not_a_registry_key';
    }
    if (fault === 'attested_for_other') return finding('mismatch', fault);
    if (fault === 'keys_missing') return finding('unconfirmed', fault);
    if (fault) return finding('broken_chain', fault);
    return this.root === undefined ? finding('unconfirmed', 'no_pinned_root') : finding('confirmed');
  }

  // registryChain follows a registry key to the pinned root.
  registryChain(kid, d) {
    if (this.root === undefined && this.registry.absent) return undefined;
    const { x, entry, fault } = key(this.registry, kid);
    if (fault) return fault;
    if (string(entry, 'role') !== 'signing') return x === this.root ? 'root_signs_entries_only' : 'not_a_signing_key';
    if (this.root !== undefined) {
      const block = map(entry, 'root_signature');
      if (block === undefined) return 'no_root_signature';
      const text = (name) => string(entry, name) ?? '';
      const signed = new Map([['kid', kid], ['public_key', x], ['alg', text('crv')], ['role', text('role')], ['registry', this.registry.registry], ['created_at', text('created_at')], ['not_after', text('not_after')]]);
      if (!holds(block, sha256(canonical(signed)), this.root)) return 'root_signature_wrong';
    }
    if (d.signedAt === undefined) return 'signed_at_unreadable';
    const until = instant(string(entry, 'not_after'));
    return until === undefined || d.signedAt > until ? 'registry_key_expired' : undefined;
  }

  publisherChain(d, registryList) {
    const kid = string(d.block, 'kid');
    const { x, entry, fault } = key(this.publisher, kid);
    if (fault) return fault;
    const block = map(entry, 'x_protocol_attestation');
    if (block === undefined) return 'no_key_attestation';
    const registryKid = string(block, 'registry_kid');
    const broken = this.registryChain(registryKid, d);
    if (broken) return broken === 'unknown_key' ? 'unknown_registry_key' : broken;
    const attestedAt = instant(string(block, 'signed_at'));
    if (!this.registry.absent) {
      const text = (name) => string(block, name) ?? '';
      const signed = new Map([['kid', kid], ['public_key', x], ['alg', string(entry, 'crv')], ['publisher', text('publisher')], ['created_at', text('key_created_at')]]);
      if (!holds(block, sha256(canonical(signed)), key(this.registry, registryKid).x)) return 'key_attestation_wrong';
    }
    if ((string(block, 'publisher') ?? '') !== d.publisher) return 'attested_for_other';
    const until = instant(string(this.registry.entries?.get(registryKid), 'not_after'));
    if (attestedAt !== undefined && until !== undefined && attestedAt > until) return 'registry_key_expired';
    return [d.signedAt, attestedAt].some((t) => withdrawsKey(registryList, registryKid, t)) ? 'registry_key_revoked' : undefined;
  }

  // list reads a revocation list; over is the registry's list when this one is a publisher's.
  list(evidence, publisher, over) {
    if (evidence === undefined) return { fault: 'list_missing' };
    if (evidence.error) return { fault: evidence.error === 'net_refused' ? 'net_refused' : 'list_unavailable' };
    let d;
    try {
      d = document(evidence.document);
    } catch (e) {
      if (!(e instanceof Refused)) throw e;
      return { fault: 'list_malformed' };
    }
    const content = d.kind === 'revocations' && listContent(d, over !== undefined);
    if (!content) return { fault: 'list_malformed' };
    const fault = this.listFault(d, content, publisher, over);
    if (fault) return { fault };
    const age = this.at - content.issuedAt;
    const late = age > content.maxAge ? 'list_stale' : age < -SKEW ? 'list_in_future' : undefined;
    return { verified: true, fault: late, entries: content.entries };
  }

  listFault(d, content, publisher, over) {
    if (over === undefined ? d.top.has('publisher') : publisher === '' || d.publisher !== publisher) return 'list_of_other';
    if (!d.signed) return 'list_unsigned';
    if (mirror(d).value !== 'ok') return 'list_mirror_mismatch';
    const kid = string(d.block, 'kid');
    if (!holds(d.block, d.digest, key(this.registry, kid).x)) return 'list_signature_wrong';
    if (this.registryChain(kid, d)) return 'list_chain_broken';
    for (const { raw } of content.entries) {
      const block = raw.get('root_signature');
      if (this.root !== undefined && block !== undefined && !holds(block, sha256(canonical(raw, 'root_signature')), this.root)) return 'list_entry_forged';
    }
    const self = { verified: true, entries: content.entries };
    return [self, over].some((l) => l && withdrawsKey(l, kid, d.signedAt)) ? 'list_signer_revoked' : undefined;
  }

  authority(d) {
    if (d.kind === 'unknown') return finding('not_stated', 'unsigned_kind');
    if (d.kind === 'revocations') {
      const content = listContent(d, d.publisher !== '');
      if (!content) return finding('not_stated', 'expiry_not_stated');
      return this.at - content.issuedAt > content.maxAge ? finding('expired', 'list_stale') : finding('current');
    }
    if (d.signed || d.top.has('expires_at')) {
      const expires = instant(string(d.top, 'expires_at'));
      if (expires === undefined) return finding('not_stated', 'expiry_not_stated');
      if (this.at >= expires) return finding('expired', 'document_expired');
    }
    const [publisher, verification] = [map(d.top, 'publisher'), map(d.top, 'verification')];
    const until = instant(string(verification, 'valid_until'));
    if (until !== undefined && this.at >= until) return finding('expired', 'proof_lapsed');
    const proven = instant(string(publisher, 'authority_verified_at'));
    if (proven !== undefined) return proven > this.at + SKEW ? finding('not_proven', 'proof_in_future') : finding('current');
    const observed = member(verification, 'domain_verified') === true && string(verification, 'verified_host') && string(verification, 'method');
    if (observed && until !== undefined) return finding('current');
    if (member(publisher, 'website_verified') === false || member(verification, 'domain_verified') === false) return finding('not_proven', 'no_proof');
    return finding('not_stated', 'proof_not_stated');
  }

  revocation(d, lists) {
    if (d.kind === 'unknown') return finding('not_checked', 'unsigned_kind');
    let [revoked, unmatched] = [undefined, 0];
    for (const list of lists.filter((l) => l.verified)) {
      for (const entry of list.entries.filter((e) => inWindow(e, d.signedAt))) {
        const matched = entry.matchable ? names(entry, d) : undefined;
        if (matched) revoked ??= entry.scope + '_revoked';
        if (matched === undefined) unmatched++;
      }
    }
    if (revoked) return finding('revoked', revoked);
    const fault = lists.find((l) => l.fault)?.fault;
    if (fault) return finding('not_checked', fault);
    return unmatched ? { ...finding('incomplete', 'unmatched_entries'), count: unmatched } : finding('clean');
  }

  call(d) {
    const call = this.vector.call;
    if (call === null) return finding('not_applicable');
    if (d.kind !== 'envelope') return finding('mismatch', 'answers_no_call');
    if ((string(d.top, 'tool') ?? '') !== call.tool) return finding('mismatch', 'other_tool');
    let sent;
    try {
      sent = parse(call.arguments || '{}');
    } catch {
      return finding('mismatch', 'call_unreadable');
    }
    return same(sent ?? new Map(), d.top.get('arguments') ?? new Map()) ? finding('match') : finding('mismatch', 'other_arguments');
  }

  // usable is the verdict of a reader whose policy allows nothing unconfirmed and nothing unchecked.
  usable(d, out) {
    const against = [];
    if (out.signature.value !== 'valid') against.push('signature_' + out.signature.value);
    if (out.mirror.value === 'mismatch') against.push('mirror_mismatch');
    if (out.call.value === 'mismatch') against.push('call_mismatch');
    if (out.identity.value !== 'confirmed') against.push('identity_' + out.identity.value);
    if (out.authority.value === 'expired') against.push('authority_expired');
    if (out.revocation.value === 'revoked') against.push('revoked');
    else if (out.revocation.value !== 'clean') against.push('revocation_' + out.revocation.value);
    if (d.signedAt !== undefined && d.signedAt > this.at + SKEW) against.push('signed_in_future');
    return against.length ? finding('no', against.join(',')) : finding('yes');
  }
}

function mirror(d) {
  if (!d.signed) return finding('not_applicable');
  for (const [inside, outside, fault] of [['signing_kid', 'kid', 'kid_differs'], ['signed_at', 'signed_at', 'signed_at_differs'], [d.keysName, 'jwks_url', 'keys_url_differs'], ['expires_at', 'expires_at', 'expires_at_differs']]) {
    const [payload, block] = [member(d.top, inside), member(d.block, outside)];
    if (outside === 'expires_at' && block === undefined && (payload !== undefined || d.kind === 'revocations')) continue;
    if (payload === undefined || block === undefined || !same(payload, block)) return finding('mismatch', fault);
  }
  return finding('ok');
}

const targets = {
  registry: { registry_key: 'subject', publisher: 'subject' },
  publisher: { key: 'kid', tenant: '', entity: 'entity_key', digest: 'digest' },
};

function listContent(d, publisherList) {
  const issuedAt = instant(string(d.top, 'issued_at'));
  const age = member(d.top, 'max_age_seconds');
  const entries = member(d.top, 'entries');
  if (issuedAt === undefined || !(age instanceof Literal) || !/^\d{1,9}$/.test(age.text) || !Array.isArray(entries)) return undefined;
  const out = [];
  for (const raw of entries) {
    const scope = string(raw, 'scope');
    if (scope === undefined) return undefined;
    const known = targets[publisherList ? 'publisher' : 'registry'];
    const name = Object.hasOwn(known, scope) ? known[scope] : undefined;
    const target = name ? string(raw, name) : '';
    out.push({ raw, scope, target, matchable: name !== undefined && target !== undefined, from: instant(string(raw, 'revoked_from')), until: instant(string(raw, 'revoked_until')) });
  }
  return { issuedAt, maxAge: BigInt(age.text) * 1_000_000_000n, entries: out };
}

// An instant that is not known lies in every window.
const inWindow = (entry, t) => t === undefined || ((entry.from === undefined || t >= entry.from) && (entry.until === undefined || t <= entry.until));

const withdrawsKey = (list, kid, t) =>
  list.verified === true && list.entries.some((e) => e.matchable && e.scope === 'registry_key' && e.target === kid && inWindow(e, t));

// names reports whether an entry names a document; undefined when that cannot be told.
function names(entry, d) {
  const either = (a, b) => entry.target === (a ?? '') || entry.target === (b ?? '');
  switch (entry.scope) {
    case 'publisher':
      return d.publisher !== '' && entry.target === d.publisher;
    case 'tenant':
      return true;
    case 'registry_key':
    case 'key':
      return either(string(d.block, 'kid'), string(d.top, 'signing_kid'));
    case 'digest':
      return either(d.digest.toString('base64url'), string(d.block, 'digest'));
  }
  return namesRecord(entry.target, records(member(d.top, 'result')));
}

function namesRecord(target, { keys, complete }) {
  const [type, id] = /^([^/]*)\/(.*)$/s.exec(target)?.slice(1) ?? [];
  let plain;
  try {
    plain = id === undefined ? undefined : decodeURIComponent(id);
  } catch {
    plain = undefined;
  }
  if (plain === undefined) return keys.size === 0 && complete ? false : undefined;
  if (keys.has(type + '/' + plain)) return true;
  return complete ? false : undefined;
}

// records are the keys of the records in a result, and whether every part of it was understood.
function records(result) {
  const out = { keys: new Set(), complete: true };
  if (result === undefined || result === null) return out;
  if (!(result instanceof Map)) return { ...out, complete: false };
  const add = (record) => {
    const [type, id] = [string(record, 'type'), string(record, 'id')];
    if (type === undefined || id === undefined) out.complete = false;
    else out.keys.add(type + '/' + id);
  };
  const each = (list, f) => (Array.isArray(list) ? list.forEach(f) : (out.complete = false));
  for (const [name, value] of result) {
    if (name === 'records') each(value, add);
    else if (name === 'subject') add(value);
    else if (name === 'neighbours') each(value, (n) => add(member(n, 'record')));
    else if (name === 'readings') each(value, (r) => member(r, 'subject') !== undefined && add(member(r, 'subject')));
    else if (!['locations', 'lists', 'profile', 'branches'].includes(name)) out.complete = false;
  }
  return out;
}

const evidence = new Map();
for (const line of readFileSync(0, 'utf8').split('\n')) {
  if (line === '') continue;
  const input = JSON.parse(line);
  if (input.evidence) {
    evidence.set(input.evidence.name, input.evidence);
    continue;
  }
  let out;
  try {
    out = new Reader(input, evidence).judge();
  } catch (e) {
    if (!(e instanceof Refused)) throw e;
    out = { error: e.error };
  }
  process.stdout.write(JSON.stringify(out) + '\n');
}
