import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { bytesOf } from '../gateway/protocols/soap/related.ts';
import type { Version } from './checks.ts';
import { endpointOf, serveChanged } from './gateway.ts';
import { judgeUpload, type Result } from './judge.ts';
import { startRelay } from './relay.ts';
import { run } from './run-command.ts';
import type { Stack } from './stacks.ts';
import { problemOnTheWire, variantNamed } from './variants.ts';

/** A service whose only operation stores a document and returns it: the contract of the MTOM captures. */
const contract = join(import.meta.dirname, '../fixtures/mtom/contract');
const limitMs = 300_000;

/** Returns the length and a position-dependent checksum. */
function told(bytes: Buffer): string {
  return `${bytes.length} ${bytes.reduce((sum, byte, i) => (sum + (i + 1) * byte) % 1_000_003, 0)}`;
}

const content = bytesOf(40_000);
const thumbnail = bytesOf(300);
const document = {
  name: 'report.pdf',
  content: content.toString('base64'),
  thumbnail: thumbnail.toString('base64'),
};
const expected = [document.name, told(content), told(thumbnail)];

/** Stores and reads a document with MTOM in each version of a stack that has an `upload.sh`. */
export async function makeUploads(stack: Stack): Promise<readonly Result[]> {
  if (!existsSync(join(stack.folder, 'upload.sh'))) return [];
  const results: Result[] = [];
  for (const version of stack.versions) results.push(await upload(stack, version));
  return results;
}

async function upload(stack: Stack, version: Version): Promise<Result> {
  const variant = variantNamed('mtom');
  const upstream = createServer(async (request, response) => {
    const isTheDocument = isDeepStrictEqual(JSON.parse(await text(request)), document);
    response.writeHead(isTheDocument ? 200 : 500, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(isTheDocument ? document : { message: 'expected the document, got another' }),
    );
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  const relay = await startRelay();
  const overlay = { mtomReplies: 'requested' };
  // clients call the address in the WSDL, which must be the relay's
  const flags = ['--public-url', relay.url];
  const gateway = await serveChanged(contract, overlay, `http://127.0.0.1:${port}`, flags);
  relay.passTo(gateway.url);
  const out = mkdtempSync(join(tmpdir(), `interop-upload-${stack.name}-`));
  try {
    const wsdl = `${endpointOf(gateway, '1.1', relay.url)}?wsdl`;
    const finished = await run('/bin/bash', ['upload.sh', wsdl, version, out], {
      folder: stack.folder,
      limitMs,
      environment: { ENDPOINT: endpointOf(gateway, version, relay.url) },
    });
    const wire = problemOnTheWire(variant, relay.takeRequests(), relay.takeReplies());
    return judgeUpload({ stack, version, variant }, finished, expected, wire);
  } finally {
    rmSync(out, { recursive: true, force: true });
    await gateway.stop();
    relay.close();
    upstream.close();
    upstream.closeAllConnections();
  }
}
