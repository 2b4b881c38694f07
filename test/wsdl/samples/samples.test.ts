import { join } from 'node:path';
import test from 'ava';
import { screeningContract } from '../../../mappings/loader/load.ts';
import { element, sequence } from '../../mappings/codec/adopted/messages.ts';
import { definitionsOf, folderOf, get, schemaOf } from '../../mappings/loader/wsdl/wsdl-folder.ts';
import { checkSamples } from './check-samples.ts';

const root = join(import.meta.dirname, '../../..');

/** Contracts whose samples are all sent: the shipped one, adopted ones, one with unions. */
const contracts = [
  ['screening', screeningContract],
  ['the catalogue adopted', join(root, 'test/fixtures/adopt/catalogue')],
  ['an rpc service adopted', join(root, 'test/fixtures/adopt/orders-rpc')],
  ['unions', join(root, 'test/documents/fulfillment')],
  ['strict validation', join(root, 'test/plain/strict-validation')],
] as const;

for (const [name, contract] of contracts)
  test(`${name}: the gateway accepts every sample of a request, and makes the sample replies`, async (t) => {
    await checkSamples(t, contract);
  });

/** Required content of a request, with an overlay. */
const demanding = [
  ['a name with a namespace', element('name', 'xs:QName')],
  ['an element without a namespace', '<xs:any namespace="##local" processContents="lax"/>'],
  ['an element of one namespace', '<xs:any namespace="urn:o" processContents="lax"/>'],
  ['fields', '<xs:any processContents="lax" maxOccurs="unbounded"/>', 'open: { Get: fields }'],
  ['a number as a credential', element('a'), 'headers: { Session.id: { header: X-Session } }'],
] as const;

for (const [what, must, overlay = ''] of demanding)
  test(`${what}, if required: the gateway accepts request samples, and makes reply samples`, async (t) => {
    const header = '<soap:header message="t:h" part="s" use="literal"/><soap:body use="literal"/>';
    const wsdl = definitionsOf(
      schemaOf(
        `<xs:element name="Get">${sequence(must)}</xs:element><xs:element name="Session">${sequence(element('id', 'xs:int'))}</xs:element>`,
      ),
      `<w:message name="h"><w:part name="s" element="t:Session"/></w:message>${get.replace('<soap:body use="literal"/>', header)}`,
    );
    await checkSamples(t, folderOf(t, { 'service.wsdl': wsdl, 'soap.yaml': overlay }));
  });
