"""A chain shaped like Apple's: P-384 root, P-384 intermediate, P-256 leaf, both marker extensions.

Intermediate and leaf name a loopback OCSP responder, because Apple's library remembers a chain only
after an online check (`SignedDataVerifier(enable_online_checks=True)`).
"""

import base64
import datetime
import json
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import AuthorityInformationAccessOID, NameOID

INTERMEDIATE_MARKER = x509.ObjectIdentifier("1.2.840.113635.100.6.2.1")
LEAF_MARKER = x509.ObjectIdentifier("1.2.840.113635.100.6.11.1")
ASN1_NULL = b"\x05\x00"
# Real leaves carry such a notice; it brings ours to the length of Apple's (2.5 KB for the three).
NOTICE = (
    "Reliance on this certificate by any party assumes acceptance of the then applicable standard "
    "terms and conditions of use, certificate policy and certification practice statements; see the authority's public repository."
)


@dataclass
class Authority:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.DER)


@dataclass
class Chain:
    root: Authority
    intermediate: Authority
    leaf: Authority

    def protected_header(self) -> bytes:
        """The JWS header, Base64url: what Apple puts in front of each of the three signatures."""
        x5c = [base64.b64encode(c.der).decode() for c in (self.leaf, self.intermediate, self.root)]
        header = json.dumps({"alg": "ES256", "x5c": x5c}, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(header).rstrip(b"=")

    def leaf_key_pem(self) -> bytes:
        return self.leaf.key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )


def make_chain(ocsp_url: str) -> Chain:
    """A fresh chain whose intermediate and leaf name `ocsp_url`."""
    root = _issue("Benchmark Root CA - G3", ec.SECP384R1(), issuer=None, ocsp_url=None)
    intermediate = _issue(
        "Benchmark Developer Relations Certification Authority",
        ec.SECP384R1(), issuer=root, ocsp_url=ocsp_url, authority=True, marker=INTERMEDIATE_MARKER,
    )
    return Chain(root, intermediate, _leaf(intermediate, ocsp_url))


def with_another_leaf(chain: Chain) -> Chain:
    """The same authority with a leaf that it has not issued before."""
    return Chain(chain.root, chain.intermediate, _leaf(chain.intermediate, "http://127.0.0.1:9/ocsp"))


def _leaf(intermediate: Authority, ocsp_url: str) -> Authority:
    return _issue(
        "Benchmark ECC App Store and Store Receipt Signing",
        ec.SECP256R1(), issuer=intermediate, ocsp_url=ocsp_url, marker=LEAF_MARKER,
    )


def _issue(name, curve, issuer, ocsp_url, authority=False, marker=None) -> Authority:
    key = ec.generate_private_key(curve)
    is_authority = authority or issuer is None
    subject = x509.Name([
        x509.NameAttribute(NameOID.COMMON_NAME, name),
        x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, "G6" if issuer else "Certification Authority"),
        x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Benchmark Inc."),
        x509.NameAttribute(NameOID.COUNTRY_NAME, "US"),
    ])
    now = datetime.datetime.now(datetime.timezone.utc)
    signer = issuer.key if issuer else key
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=90))
        .not_valid_after(now + datetime.timedelta(days=730))
        .add_extension(
            x509.BasicConstraints(ca=is_authority, path_length=0 if issuer and authority else None),
            critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        .add_extension(_key_usage(is_authority), critical=True)
    )
    if ocsp_url:
        builder = builder.add_extension(
            x509.AuthorityInformationAccess([
                x509.AccessDescription(
                    AuthorityInformationAccessOID.OCSP, x509.UniformResourceIdentifier(ocsp_url))
            ]),
            critical=False)
        builder = builder.add_extension(
            x509.CRLDistributionPoints([
                x509.DistributionPoint(
                    [x509.UniformResourceIdentifier("http://crl.example.com/authority.crl")],
                    None, None, None)
            ]),
            critical=False)
    if marker:
        builder = builder.add_extension(x509.UnrecognizedExtension(marker, ASN1_NULL), critical=False)
    if issuer and not authority:
        builder = builder.add_extension(
            x509.CertificatePolicies([
                x509.PolicyInformation(
                    x509.ObjectIdentifier("1.2.840.113635.100.5.6.1"),
                    [x509.UserNotice(None, NOTICE), "http://www.example.com/certificateauthority/"])
            ]),
            critical=False)
    return Authority(builder.sign(signer, hashes.SHA384()), key)


def _key_usage(authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not authority, content_commitment=False, key_encipherment=False,
        data_encipherment=False, key_agreement=False, key_cert_sign=authority, crl_sign=authority,
        encipher_only=False, decipher_only=False)
