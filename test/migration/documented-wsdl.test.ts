import test from 'ava';
import { addDocumentation, documentedKey } from '../../gateway/migration/documented-wsdl.ts';
import { defaultLimits } from '../../mappings/contract/limits.ts';

const namespace = 'http://schemas.xmlsoap.org/wsdl/';
const texts = new Map([[documentedKey('Orders', 'GetOrder'), 'Deprecated – see <page>.']]);
const added = 'Deprecated &#8211; see &#60;page&#62;.';

/** Returns a WSDL with one operation. */
function wsdl(operation: string, portType = 'Orders'): string {
  return `<w:definitions xmlns:w="${namespace}"><w:portType name="${portType}"><w:operation name="GetOrder">${operation}<w:input message="i"/></w:operation></w:portType><w:binding name="b"><w:operation name="GetOrder"/></w:binding></w:definitions>`;
}

function documented(text: string, encoding: 'utf8' | 'utf16le' = 'utf8'): string {
  const bytes = Buffer.from(encoding === 'utf8' ? text : `\ufeff${text}`, encoding);
  return Buffer.from(addDocumentation(bytes, texts, defaultLimits)).toString(encoding);
}

test('G64: an operation without documentation gets an element', (t) => {
  t.is(documented(wsdl('')), wsdl(`<documentation xmlns="${namespace}">${added}</documentation>`));
});

test('G64: a text is added at the end of the documentation', (t) => {
  const own = '<w:documentation>Reads <b>one</b> order.</w:documentation>';
  t.is(documented(wsdl(own)), wsdl(own.replace('order.', `order. ${added}`)));
});

test('G64: an empty documentation is replaced', (t) => {
  t.is(
    documented(wsdl('<w:documentation/>')),
    wsdl(`<documentation xmlns="${namespace}">${added}</documentation>`),
  );
});

test('G64: another port type and a WSDL without port types stay as they are', (t) => {
  t.is(documented(wsdl('', 'Others')), wsdl('', 'Others'));
  const bare = `<w:definitions xmlns:w="${namespace}"/>`;
  t.is(documented(bare), bare);
});

test('G64: the text has the encoding of the document', (t) => {
  const declared = `<?xml version="1.0" encoding="UTF-16"?>${wsdl('<w:documentation>Größe</w:documentation>')}`;
  t.is(documented(declared, 'utf16le'), `\ufeff${declared.replace('Größe', `Größe ${added}`)}`);
});
