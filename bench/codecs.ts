import { XMLBuilder, XMLParser } from 'fast-xml-parser';
import { SaxesParser } from 'saxes';
import { compileContract } from '../mappings/compile.ts';
import type { Limits } from '../mappings/contract/limits.ts';
import type { Contract } from '../mappings/contract/model.ts';
import { readContract, screeningContract } from '../mappings/loader/load.ts';
import { decodeXml } from '../mappings/xml/decode.ts';
import { XmlReader } from '../mappings/xml/reader.ts';
import { searchReply, subUserRequest } from './messages.ts';
import { median } from './process.ts';
import { readRequest, requestLimits } from './requests.ts';

export interface CodecRow {
  readonly name: string;
  readonly megabytesPerSecond: number;
  /** Speed relative to JSON.parse of JSON of the same size in the same run. */
  readonly ofJsonParse: number;
}

/** Codecs of the screening contract, bytes to bytes, without size limits. */
export interface ScreeningCodecs {
  readonly limits: Limits;
  readonly namespaces: Contract['namespaces'];
  /** Converts a GetSearch reply. */
  readonly toXml: (json: Buffer) => unknown;
  /** Converts an UpdateSubUser request. */
  readonly toJson: (xml: Buffer) => Buffer;
}

export function screeningCodecs(): ScreeningCodecs {
  const limits = requestLimits;
  const { contract } = readContract(screeningContract);
  const compiled = compileContract(contract, limits);
  const getSearch = compiled.operations.get('GetSearch');
  const updateSubUser = compiled.operations.get('UpdateSubUser');
  if (getSearch === undefined || updateSubUser === undefined)
    throw new Error('expected the screening contract');
  const frame = { before: '', after: '' };
  return {
    limits,
    namespaces: contract.namespaces,
    toXml: (json) => getSearch.writeReply(json, frame),
    toJson: (bytes) => readRequest(updateSubUser, bytes),
  };
}

/**
 * Measures codec speed from bytes to bytes, together with JSON.parse and fast-xml-parser. Rounds alternate; results are
 * medians.
 */
export function measureCodecs(megabytes: number, rounds: number): readonly CodecRow[] {
  const { limits, namespaces, toXml, toJson } = screeningCodecs();
  const reply = Buffer.from(searchReply(megabytes));
  const request = Buffer.from(subUserRequest(megabytes, namespaces.types, namespaces.arrays));
  const replyObject: unknown = JSON.parse(reply.toString());
  const parser = new XMLParser({ ignoreAttributes: false, parseTagValue: false });
  const builder = new XMLBuilder({});
  const tasks: readonly { readonly name: string; readonly bytes: number; readonly run: () => unknown }[] = [
    { name: 'JSON.parse of the reply', bytes: reply.length, run: () => JSON.parse(reply.toString()) },
    {
      name: 'soapbridge JSON→XML (GetSearch reply)',
      bytes: reply.length,
      run: () => toXml(reply),
    },
    {
      name: 'JSON.parse + fast-xml-parser builder',
      bytes: reply.length,
      run: () => Buffer.from(builder.build(JSON.parse(reply.toString()))),
    },
    { name: 'fast-xml-parser builder only', bytes: reply.length, run: () => builder.build(replyObject) },
    {
      name: 'soapbridge XML→JSON (UpdateSubUser request)',
      bytes: request.length,
      run: () => toJson(request),
    },
    {
      name: 'soapbridge XML reader only, on the request',
      bytes: request.length,
      run: () => {
        const xml = new XmlReader(decodeXml(request, 'utf-8'), limits);
        xml.readRoot();
        xml.drain();
      },
    },
    {
      name: 'saxes only, on the request',
      bytes: request.length,
      run: () => new SaxesParser({ xmlns: true }).write(decodeXml(request, 'utf-8')).close(),
    },
    {
      name: 'fast-xml-parser parse + JSON.stringify',
      bytes: request.length,
      run: () => Buffer.from(JSON.stringify(parser.parse(request.toString()))),
    },
  ];
  const speeds = tasks.map((): number[] => []);
  for (let round = -2; round < rounds; round++) {
    for (const [index, { bytes, run }] of tasks.entries()) {
      const started = performance.now();
      run();
      const speed = bytes / 1e6 / ((performance.now() - started) / 1000);
      if (round >= 0) speeds[index]?.push(speed);
    }
  }
  const parseSpeed = median(speeds[0] ?? []);
  return tasks.map(({ name }, index) => {
    const megabytesPerSecond = median(speeds[index] ?? []);
    return { name, megabytesPerSecond, ofJsonParse: megabytesPerSecond / parseSpeed };
  });
}
