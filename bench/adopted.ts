import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from './process.ts';

/** Returns a WSDL of document/literal operations, each with its own request and reply types. */
function wsdlOf(operations: number, members: number): string {
  const numbers = Array.from({ length: operations }, (_, index) => index);
  const types = numbers.map((index) => {
    const own = Array.from(
      { length: members },
      (_, member) =>
        `<xs:element name="Member${member}" type="xs:${['string', 'decimal', 'dateTime', 'int'][member % 4]}" minOccurs="0"><xs:annotation><xs:documentation>What member ${member} of order ${index} is for.</xs:documentation></xs:annotation></xs:element>`,
    ).join('');
    return `<xs:complexType name="Line${index}"><xs:sequence><xs:element name="Article" type="xs:string"/></xs:sequence><xs:attribute name="count" type="xs:int"/></xs:complexType><xs:complexType name="Order${index}"><xs:sequence>${own}<xs:element name="Line" type="t:Line${index}" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType><xs:element name="Put${index}"><xs:complexType><xs:sequence><xs:element name="order" type="t:Order${index}"/></xs:sequence></xs:complexType></xs:element><xs:element name="Put${index}Response"><xs:complexType><xs:sequence><xs:element name="result" type="t:Order${index}"/></xs:sequence></xs:complexType></xs:element>`;
  });
  const each = (make: (index: number) => string): string => numbers.map(make).join('');
  return `<w:definitions xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t"><w:types><xs:schema targetNamespace="urn:t" elementFormDefault="qualified">${types.join('')}</xs:schema></w:types>${each((index) => `<w:message name="Put${index}In"><w:part name="p" element="t:Put${index}"/></w:message><w:message name="Put${index}Out"><w:part name="p" element="t:Put${index}Response"/></w:message>`)}<w:portType name="P">${each((index) => `<w:operation name="Put${index}"><w:input message="t:Put${index}In"/><w:output message="t:Put${index}Out"/></w:operation>`)}</w:portType><w:binding name="B" type="t:P"><s:binding transport="http://schemas.xmlsoap.org/soap/http"/>${each((index) => `<w:operation name="Put${index}"><s:operation soapAction="urn:t/Put${index}"/><w:input><s:body use="literal"/></w:input><w:output><s:body use="literal"/></w:output></w:operation>`)}</w:binding><w:service name="Orders"><w:port name="OrdersSoap" binding="t:B"><s:address location="http://old.example/Orders.asmx"/></w:port></w:service></w:definitions>`;
}

export interface AdoptedLoadRow {
  readonly operations: number;
  /** Size of the WSDL in MB of 10^6 bytes. */
  readonly megabytes: number;
  /** Time from reading files to compiled codecs, in ms. */
  readonly ms: number;
  /** Peak memory of the process, in MB. */
  readonly peakMegabytes: number;
}

/** Loads and compiles WSDLs of several sizes, each in a separate process. Returns medians. */
export function measureAdoptedLoad(
  sizes: readonly { readonly operations: number; readonly members: number }[],
  rounds: number,
): readonly AdoptedLoadRow[] {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-bench-'));
  try {
    return sizes.map(({ operations, members }, index) => {
      const wsdl = wsdlOf(operations, members);
      const place = join(folder, String(index));
      mkdirSync(place);
      writeFileSync(join(place, 'service.wsdl'), wsdl);
      const runs = Array.from({ length: rounds }, () => loadIn(place));
      return {
        operations,
        megabytes: wsdl.length / 1e6,
        ms: median(runs.map(({ ms }) => ms)),
        peakMegabytes: median(runs.map(({ peakMegabytes }) => peakMegabytes)),
      };
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function loadIn(folder: string): { readonly ms: number; readonly peakMegabytes: number } {
  const server = join(import.meta.dirname, 'servers/load-contract.ts');
  return JSON.parse(execFileSync(process.execPath, [server, folder], { encoding: 'utf8' }));
}
