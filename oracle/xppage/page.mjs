// Standard input: JSON Lines, manifests with evidence or {"canon": bytes in base64}; standard output: one line each, findings or the canonical form. The folder of the page's scripts is the argument.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const from = (name) => import(pathToFileURL(`${process.argv[2]}/${name}`));
const { Refused, canonical, instant, parse, pinned, textOf, verifyManifest } = await from('xpverify.js');
const { refusals, sentence, weight } = await from('xpwords.js');
const parts = ['signature', 'identity', 'authority', 'revocation', 'mirror'];

function canon(base64) {
  try {
    return { canonical: canonical(parse(textOf(Buffer.from(base64, 'base64')))) };
  } catch (e) {
    if (!(e instanceof Refused)) throw e;
    return { error: e.code };
  }
}

async function judge({ document, evidence, root, publisher, at }) {
  const get = (e) => (e === null ? undefined : e.error ? { error: e.error } : { text: e.document });
  const [registryKeys, publisherKeys, registryList, publisherList] = evidence.map(get);
  try {
    const found = await verifyManifest(document, {
      registryKeys, publisherKeys, registryList, publisherList, publisher, at: instant(at), skew: 60_000_000_000n,
      root: await pinned(root, registryKeys),
    });
    const out = { publisher: found.publisher };
    for (const part of parts) {
      const { value, reason, count } = found[part];
      if (!sentence(part, found[part])) throw new Error(`no sentence for ${part} ${value} ${reason}`);
      if (weight(found[part]) === 'holds' && reason !== undefined) throw new Error(`${part} ${value} is drawn as holding although ${reason}`);
      out[part] = { value, reason, count };
    }
    return out;
  } catch (e) {
    if (!(e instanceof Refused)) throw e;
    if (!refusals[e.code]) throw new Error(`no sentence for ${e.code}`);
    return { error: e.code };
  }
}

for (const line of readFileSync(0, 'utf8').split('\n')) {
  if (line === '') continue;
  const question = JSON.parse(line);
  const answer = question.canon === undefined ? await judge(question) : canon(question.canon);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
