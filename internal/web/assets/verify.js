// "Verify in this browser": fetches the record and the publisher's keys, recomputes the claim hash and verifies the
// detached Ed25519 signature with WebCrypto. Each step is shown, and a failed step stops the rest.
"use strict";
(() => {
  const box = document.querySelector(".verify");
  if (!box || !window.crypto || !crypto.subtle) return;
  const button = box.querySelector("button");
  const steps = box.querySelector(".steps");
  const utf8 = new TextEncoder();

  // RFC 8785: members sorted by UTF-16 code units, numbers and strings as ECMAScript writes them.
  const canonical = (v) => {
    if (v === null || typeof v !== "object") return JSON.stringify(v);
    if (Array.isArray(v)) return `[${v.map(canonical).join(",")}]`;
    return `{${Object.keys(v).sort().map((k) => `${JSON.stringify(k)}:${canonical(v[k])}`).join(",")}}`;
  };
  const hex = (bytes) => [...new Uint8Array(bytes)].map((b) => b.toString(16).padStart(2, "0")).join("");
  const base64url = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  const unbase64url = (text) => {
    if (!/^[A-Za-z0-9_-]*$/.test(text)) throw new Error("not base64url");
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    if (base64url(bytes) !== text) throw new Error("not canonical base64url");
    return bytes;
  };

  const say = (ok, text) => {
    const li = document.createElement("li");
    li.className = ok ? "ok" : "bad";
    li.textContent = text;
    steps.append(li);
    return ok;
  };
  const load = async (url, what) => {
    const answer = await fetch(url, { cache: "no-store", headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`${what} answered ${answer.status}`);
    return answer.json();
  };

  const checkHash = async (record) => {
    const { key, value, unit, period, effectiveFrom, source } = record;
    const claim = canonical({ key, value, unit, period, effectiveFrom, source });
    const hash = `sha256:${hex(await crypto.subtle.digest("SHA-256", utf8.encode(claim)))}`;
    return say(hash === record.hash, hash === record.hash ? `hash valid: ${hash}` : `hash invalid: the claim hashes to ${hash}`);
  };

  const findKey = async (record) => {
    const { signature } = record;
    const facts = await load("/.well-known/facts.json", "facts.json");
    if (!say(signature.keys === facts.keys, `the record names the publisher's own key set: ${signature.keys}`)) return null;
    const set = await load(new URL(signature.keys).pathname, "the key set");
    const found = set.keys.filter((k) => k.kid === signature.kid && k.kty === "OKP" && k.crv === "Ed25519");
    if (!say(found.length === 1, `key ${signature.kid} is listed once`)) return null;
    const key = found[0];
    if (key.revoked && record.verifiedDate > key.revoked) {
      say(false, `key ${key.kid} was revoked on ${key.revoked}, before this reading`);
      return null;
    }
    say(true, key.retired ? `key acceptable (retired ${key.retired}, old readings still count)` : "key acceptable");
    return key;
  };

  const checkSignature = async (record, key) => {
    const { protocol, publisher, hash, value, unit, period, effectiveFrom, effectiveTo, source, verifiedDate } = record;
    const payload = canonical({
      protocol, publisher: publisher.url, key: record.key, hash, value, unit, period, effectiveFrom, effectiveTo, source, verifiedDate,
    });
    const [header, middle, signature, ...more] = record.signature.jws.split(".");
    if (middle !== "" || more.length > 0) return say(false, "the signature is not a detached JWS");
    const { alg, kid, crit, b64 } = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(unbase64url(header)));
    if (alg !== "EdDSA" || kid !== record.signature.kid || crit !== undefined || b64 !== undefined) {
      return say(false, "the signature's header does not fit");
    }
    const pub = await crypto.subtle.importKey("jwk", { kty: "OKP", crv: "Ed25519", x: key.x }, { name: "Ed25519" }, false, ["verify"]);
    const input = utf8.encode(`${header}.${base64url(utf8.encode(payload))}`);
    const ok = await crypto.subtle.verify({ name: "Ed25519" }, pub, unbase64url(signature), input);
    return say(ok, ok ? `signature valid: ${publisher.url} said so` : "signature invalid");
  };

  const run = async () => {
    steps.replaceChildren();
    const record = await load(box.dataset.record, "the record");
    say(true, `record read: ${record.key}, read at its source on ${record.verifiedDate}`);
    if (!(await checkHash(record))) return;
    if (!record.signature) return say(false, "no signature: this publisher does not sign");
    const key = await findKey(record);
    if (key) await checkSignature(record, key);
  };

  box.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await run();
    } catch (e) {
      say(false, `could not check: ${e.message}`);
    }
    button.disabled = false;
  });
})();
