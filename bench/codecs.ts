import { XMLBuilder, XMLParser } from 'fast-xml-parser';
import { SaxesParser } from 'saxes';
import { compileContract } from '../mappings/codec/operation.ts';
import { startReading } from '../mappings/codec/problem.ts';
import { defaultLimits, type Limits } from '../mappings/limits.ts';
import { loadContract, screeningContract } from '../mappings/load.ts';
import { decodeXml } from '../mappings/xml/decode.ts';
import { XmlReader } from '../mappings/xml/reader.ts';
import { searchReply, subUserRequest } from './messages.ts';
import { median } from './process.ts';

export interface CodecRow {
  readonly name: string;
  readonly megabytesPerSecond: number;
  /** Speed as a share of JSON.parse's on JSON of the same size in the same run. */
  readonly ofJsonParse: number;
}

const limits: Limits = {
  ...defaultLimits,
  jsonMembers: 10_000_000,
  xmlElements: 10_000_000,
  xmlChildren: 10_000_000,
};

/** Codec speed from bytes to bytes beside JSON.parse and fast-xml-parser, rounds in turn, medians. */
export function measureCodecs(megabytes: number, rounds: number): readonly CodecRow[] {
  const { contract } = loadContract(screeningContract);
  const compiled = compileContract(contract, limits);
  const getSearch = compiled.operations.get('GetSearch');
  const updateSubUser = compiled.operations.get('UpdateSubUser');
  if (getSearch === undefined || updateSubUser === undefined)
    throw new Error('expected the screening contract');
  const reply = Buffer.from(searchReply(megabytes));
  const { types, arrays } = contract.namespaces;
  const request = Buffer.from(subUserRequest(megabytes, types, arrays));
  const replyObject: unknown = JSON.parse(reply.toString());
  const frame = { before: '', after: '' };
  const parser = new XMLParser({ ignoreAttributes: false, parseTagValue: false });
  const builder = new XMLBuilder({});
  const tasks: readonly { readonly name: string; readonly bytes: number; readonly run: () => unknown }[] = [
    { name: 'JSON.parse of the reply', bytes: reply.length, run: () => JSON.parse(reply.toString()) },
    {
      name: 'soapbridge JSON→XML (GetSearch reply)',
      bytes: reply.length,
      run: () => getSearch.writeReply(reply, frame),
    },
    {
      name: 'JSON.parse + fast-xml-parser builder',
      bytes: reply.length,
      run: () => Buffer.from(builder.build(JSON.parse(reply.toString()))),
    },
    { name: 'fast-xml-parser builder alone', bytes: reply.length, run: () => builder.build(replyObject) },
    {
      name: 'soapbridge XML→JSON (UpdateSubUser request)',
      bytes: request.length,
      run: () => {
        const xml = new XmlReader(decodeXml(request, 'utf-8'), limits);
        xml.readRoot();
        return Buffer.from(updateSubUser.readXml(xml, startReading(20)).text);
      },
    },
    {
      name: 'our XML reader alone, walking the request',
      bytes: request.length,
      run: () => {
        const xml = new XmlReader(decodeXml(request, 'utf-8'), limits);
        xml.readRoot();
        xml.drain();
      },
    },
    {
      name: 'saxes alone, walking the request',
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
