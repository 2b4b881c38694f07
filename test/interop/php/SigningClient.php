<?php

require 'lib/xmlseclibs/xmlseclibs.php';

// docs:begin sign
use RobRichards\XMLSecLibs\{XMLSecurityDSig, XMLSecurityKey};

/** Signs Body and a Timestamp of each request with xmlseclibs, and verifies the signature of each reply. */
final class SigningClient extends SoapClient
{
    private const OASIS = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-';
    private const WSSE = self::OASIS . 'wssecurity-secext-1.0.xsd';
    private const WSU = self::OASIS . 'wssecurity-utility-1.0.xsd';
    private const X509 = self::OASIS . 'x509-token-profile-1.0#X509v3';

    /** The files of the caller's key and certificate, and of the certificate of the service. */
    public function __construct(
        ?string $wsdl,
        array $options,
        private string $key,
        private string $certificate,
        private string $service,
    ) {
        parent::__construct($wsdl, $options);
    }

    public function __doRequest($request, $location, $action, $version, $oneWay = false): ?string
    {
        $reply = parent::__doRequest($this->sign($request), $location, $action, $version, $oneWay);
        if ($reply !== null && $reply !== '') $this->verify($reply);
        return $reply;
    }

    private function sign(string $request): string
    {
        $document = new DOMDocument();
        $document->loadXML($request);
        $envelope = $document->documentElement;
        [$soap, $prefix] = [$envelope->namespaceURI, $envelope->prefix];
        $body = $envelope->getElementsByTagNameNS($soap, 'Body')->item(0);
        $header = $envelope->getElementsByTagNameNS($soap, 'Header')->item(0)
            ?? $envelope->insertBefore($document->createElementNS($soap, "$prefix:Header"), $body);
        $security = $header->appendChild($document->createElementNS(self::WSSE, 'wsse:Security'));
        $security->setAttributeNS($soap, "$prefix:mustUnderstand", '1');

        $pem = file_get_contents($this->certificate);
        $token = $document->createElementNS(self::WSSE, 'wsse:BinarySecurityToken', XMLSecurityDSig::get509XCert($pem));
        $token->setAttribute('ValueType', self::X509);
        $token->setAttribute('EncodingType', self::OASIS . 'soap-message-security-1.0#Base64Binary');
        $token->setAttributeNS(self::WSU, 'wsu:Id', 'token');
        $security->appendChild($token);

        $timestamp = $security->appendChild($document->createElementNS(self::WSU, 'wsu:Timestamp'));
        // milliseconds, so that two equal calls in one second are two messages
        $now = new DateTimeImmutable('now', new DateTimeZone('UTC'));
        foreach (['Created' => $now, 'Expires' => $now->modify('+5 minutes')] as $name => $time) {
            $text = $time->format('Y-m-d\TH:i:s.v\Z');
            $timestamp->appendChild($document->createElementNS(self::WSU, "wsu:$name", $text));
        }

        $signature = new XMLSecurityDSig();
        $signature->setCanonicalMethod(XMLSecurityDSig::EXC_C14N);
        $ids = ['prefix' => 'wsu', 'prefix_ns' => self::WSU];
        $signature->addReferenceList([$body, $timestamp], XMLSecurityDSig::SHA256, null, $ids);
        $key = new XMLSecurityKey(XMLSecurityKey::RSA_SHA256, ['type' => 'private']);
        $key->loadKey($this->key, true);
        $signature->sign($key, $security);

        $reference = $document->createElementNS(self::WSSE, 'wsse:Reference');
        $reference->setAttribute('URI', '#token');
        $reference->setAttribute('ValueType', self::X509);
        $information = $document->createElementNS(self::WSSE, 'wsse:SecurityTokenReference');
        $information->appendChild($reference);
        $signature->appendToKeyInfo($information);
        return $document->saveXML();
    }

    /** @throws RuntimeException if Body is not signed by the service */
    private function verify(string $reply): void
    {
        $document = new DOMDocument();
        $document->loadXML($reply, LIBXML_NONET);
        $signature = new XMLSecurityDSig();
        $signature->idKeys = ['wsu:Id'];
        $signature->idNS = ['wsu' => self::WSU];
        if ($signature->locateSignature($document) === null) throw new RuntimeException('the reply is not signed');
        $signature->canonicalizeSignedInfo();
        $key = $signature->locateKey();
        if (!in_array($key?->type, [XMLSecurityKey::RSA_SHA256, XMLSecurityKey::RSA_SHA512], true))
            throw new RuntimeException('the reply is signed with another algorithm');
        $key->loadKey($this->service, true, true);
        if ($signature->verify($key) !== 1) throw new RuntimeException('the reply is not signed by the service');
        $signature->validateReference();
        $envelope = $document->documentElement;
        foreach ($envelope->childNodes as $child) {
            if ($child->localName !== 'Body') continue;
            foreach ($signature->getValidatedNodes() as $node) if ($node->isSameNode($child)) return;
        }
        throw new RuntimeException('the Body of the reply is not signed');
    }
}
// docs:end sign
