// The verify page: reads the root from the form, fetches five documents from this origin, and shows each finding on its own.
import { Refused, instant, pinned, supported, textOf, verifyManifest } from "./xpverify.js";
import { refusals, sentence, weight } from "./xpwords.js";

const form = document.querySelector("form.verify");
const input = form.querySelector("textarea");
const button = form.querySelector("button");
const notice = form.querySelector(".notice");
const results = document.querySelector(".findings");
const documents = {
  manifest: "manifest", registryKeys: "registry-keys", publisherKeys: "publisher-keys",
  registryList: "registry-list", publisherList: "publisher-list",
};

const say = (text) => {
  notice.textContent = text;
  notice.hidden = text === "";
};

// load returns {text}, or {error} when the document could not be had.
async function load(path) {
  try {
    const answer = await fetch(path, { cache: "no-store", credentials: "omit", redirect: "error", headers: { Accept: "application/json" } });
    return answer.ok ? { text: textOf(await answer.arrayBuffer()) } : { error: `answered ${answer.status}` };
  } catch {
    return { error: "could not be reached" };
  }
}

const utc = (nanoseconds) => new Date(Number(nanoseconds / 1_000_000n)).toISOString().replace(/\.\d+Z$/, "Z");

function show(part, finding, more) {
  const row = results.querySelector(`[data-finding="${part}"]`);
  const chip = row.querySelector(".value");
  chip.textContent = finding.value.replaceAll("_", " ") + (finding.count ? ` (${finding.count})` : "");
  chip.dataset.weight = weight(finding);
  row.querySelector(".reason").textContent = [sentence(part, finding), more].filter(Boolean).join(" ");
}

async function run() {
  if (!globalThis.crypto?.subtle) throw new Error("This page was not loaded over https, so the browser offers it no cryptography. Use the program below.");
  if (!(await supported())) throw new Error("This browser has no Ed25519 in WebCrypto, so nothing was checked. Use a newer browser, or the program below.");
  const names = Object.keys(documents);
  const loaded = await Promise.all(names.map((name) => load(form.dataset[name])));
  const evidence = Object.fromEntries(names.map((name, i) => [name, loaded[i]]));
  const { manifest } = evidence;
  if (manifest.error) throw new Error(`The manifest ${manifest.error}. That says nothing about the business.`);
  const root = await pinned(input.value, evidence.registryKeys);
  const at = BigInt(Date.now()) * 1_000_000n;
  const found = await verifyManifest(manifest.text, { ...evidence, root, publisher: form.dataset.publisher, at, skew: 60_000_000_000n });
  const expires = instant(found.expiresAt);
  show("signature", found.signature);
  show("identity", found.identity);
  show("authority", found.authority, expires === undefined ? "" : `The signature counts until ${utc(expires)}.`);
  show("revocation", found.revocation, found.revocation.asOf === undefined ? "" : `As of ${utc(found.revocation.asOf)}, when the older list was issued.`);
  show("mirror", found.mirror);
  results.hidden = false;
  results.querySelector(".when").textContent = `Checked by your browser at ${utc(at)}, by its own clock.`;
  results.querySelector("h2").focus();
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  button.disabled = true;
  results.hidden = true;
  say("");
  try {
    await run();
  } catch (e) {
    say(e instanceof Refused ? refusals[e.code] : e.message);
  }
  button.disabled = false;
});

input.value = new URLSearchParams(location.hash.slice(1)).get("root") ?? "";
form.hidden = false;
