"""Signs calls with zeep, which verifies the signature of each reply and each fault with the certificate of the gateway."""

import json
import sys
from datetime import datetime, timedelta, timezone

import xmlsec
import zeep
from zeep.exceptions import Fault, SignatureVerificationFailed
from zeep.wsse.signature import BinarySignature, Signature
from zeep.wsse.utils import WSU, get_security_header

wsdl, keys = sys.argv[1:]
TYPES = "http://schemas.servicestack.net/types"
METHODS = {"signature_method": xmlsec.Transform.RSA_SHA256, "digest_method": xmlsec.Transform.SHA256}


def instant(time):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


class Signing:
    """Adds a Timestamp, signs with the key of a caller, and verifies replies with another certificate."""

    def __init__(self, kind, certificate, age):
        self.caller = kind(keys + "/alice.key", keys + "/alice.crt", **METHODS)
        self.gateway = kind(keys + "/alice.key", keys + "/" + certificate, **METHODS)
        self.age = age

    def apply(self, envelope, headers):
        created = datetime.now(timezone.utc) - self.age
        times = [WSU.Created(instant(created)), WSU.Expires(instant(created + timedelta(minutes=5)))]
        get_security_header(envelope).append(WSU.Timestamp(*times))
        return self.caller.apply(envelope, headers)

    def verify(self, envelope):
        return self.gateway.verify(envelope)


def call(kind, version, certificate="gateway.crt", age=timedelta()):
    client = zeep.Client(wsdl, wsse=Signing(kind, certificate, age))
    binding = "{%s}Soap%sBinding" % (TYPES, version.replace(".", ""))
    service = client.create_service(binding, wsdl.replace("/soap11?wsdl", "/soap" + version.replace(".", "")))
    try:
        return str(service.GetEulaStatus(Request={"SubUserName": "jane"}))
    except Fault as fault:
        return fault.message
    except SignatureVerificationFailed:
        return "SignatureVerificationFailed"


for kind in BinarySignature, Signature:
    for version in "1.1", "1.2":
        for situation, wanted, options in (
            ("reply", "'AgreeToTerms': True", {}),
            ("fault", "expired at", {"age": timedelta(hours=3)}),
            ("other certificate", "SignatureVerificationFailed", {"certificate": "bob.crt"}),
        ):
            got = call(kind, version, **options)
            title = "%s, SOAP %s, %s" % (kind.__name__, version, situation)
            print(json.dumps({"title": title, "ok": wanted in got, "got": got}))
