"""WS-Security signatures with zeep."""

# docs:begin sign
from datetime import datetime, timedelta, timezone

import xmlsec
from zeep.wsse.signature import BinarySignature
from zeep.wsse.utils import WSU, get_security_header

METHODS = {"signature_method": xmlsec.Transform.RSA_SHA256, "digest_method": xmlsec.Transform.SHA256}


def instant(time):
    return time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Signing:
    """Signs Body and a Timestamp, and verifies replies with the certificate of the service."""

    def __init__(self, key, certificate, service):
        self.caller = BinarySignature(key, certificate, **METHODS)
        self.service = BinarySignature(key, service, **METHODS)

    def apply(self, envelope, headers):
        now = datetime.now(timezone.utc)
        times = [WSU.Created(instant(now)), WSU.Expires(instant(now + timedelta(minutes=5)))]
        get_security_header(envelope).append(WSU.Timestamp(*times))
        return self.caller.apply(envelope, headers)

    def verify(self, envelope):
        return self.service.verify(envelope)
# docs:end sign
