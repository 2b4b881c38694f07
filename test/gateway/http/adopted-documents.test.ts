import test, { type ExecutionContext } from 'ava';
import { createPages } from '../../../console/server/pages.ts';
import {
  definitionsOf,
  type Files,
  folderOf,
  get,
  schemaOf,
} from '../../mappings/loader/wsdl/wsdl-folder.ts';
import { type Reply, send as sendTo, startGateway } from '../gateway.ts';

// The documents of an imported WSDL as clients load them over HTTP.

type Send = (path: string, headers?: Record<string, string>, method?: string) => Promise<Reply>;

/** A gateway, with pages, for a folder with these files. */
async function serveFiles(
  t: ExecutionContext,
  files: Files,
): Promise<{ readonly port: number; readonly send: Send }> {
  const { port } = await startGateway(t, { serve: { contract: folderOf(t, files), pages: createPages } });
  return { port, send: (path, headers = {}, method = 'GET') => sendTo(port, method, path, headers) };
}

const element = '<xs:element name="Get" type="xs:int"/>';
const importing = definitionsOf(
  schemaOf('<xs:import namespace="urn:t" schemaLocation="a.xsd"/>', 'targetNamespace="urn:m"'),
  get,
);

for (const [encoding, declaration, encode, charset] of [
  ['UTF-8', '<?xml version="1.0"?>', (text: string) => Buffer.from(text), 'utf-8'],
  [
    'ISO-8859-1',
    '<?xml version="1.0" encoding="ISO-8859-1"?>',
    (text: string) => Buffer.from(text, 'latin1'),
    'iso-8859-1',
  ],
  [
    'Windows-1252',
    '<?xml version="1.0" encoding="Windows-1252"?>',
    (text: string) => Buffer.from(text, 'latin1'),
    'windows-1252',
  ],
  [
    'UTF-16',
    '\ufeff<?xml version="1.0" encoding="utf-16"?>',
    (text: string) => Buffer.from(text, 'utf16le'),
    'utf-16',
  ],
  [
    'UTF-16 without a byte order mark',
    '<?xml version="1.0" encoding="utf-16"?>',
    (text: string) => Buffer.from(text, 'utf16le'),
    'utf-16le',
  ],
] as const)
  test(`A1: Content-Type has the charset of the document, for a WSDL and a schema in ${encoding}`, async (t) => {
    const schema = schemaOf(`<!-- Größe -->${element}`);
    const { send } = await serveFiles(t, {
      'service.wsdl': encode(declaration + importing),
      'a.xsd': encode(declaration + schema),
    });
    for (const path of ['/Things.asmx?wsdl', '/Things.asmx', '/?wsdl', '/soap11?wsdl', '/Things.asmx?xsd=0'])
      for (const method of ['GET', 'HEAD']) {
        const { headers } = await send(path, {}, method);
        t.is(headers['content-type'], `text/xml; charset=${charset}`, path);
      }
  });
