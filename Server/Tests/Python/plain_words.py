"""Every error message that the tests see is in words for a person: it names no type of the program or
of one of its libraries, no errno, and holds no dump of a decoder.

`watch()` looks at every answer of 4xx and 5xx that Python's own HTTP client reads (urllib, requests and
the stores' libraries use it), and at what every command says when it fails.
"""

import http.client
import pathlib
import re
import subprocess

DUMPS = re.compile(
    # HTTPClientError.connectTimeout, Refusal(reason: …), StripeAPI.Stripe.WebhookSignature
    r"\b\w*(?:Error|Failure|Refusal)(?:\.[a-z]|\()"
    r"|\b(?:Swift|NIO\w*|Foundation|FoundationEssentials|AsyncHTTPClient|Hummingbird|ArgumentParser"
    r"|Tollgate[A-Z]\w*|AppStoreAPI|StripeAPI|StrictJSON|Storage\w*)\.[A-Z]\w+"
    r"|\b(?:keyNotFound|typeMismatch|valueNotFound|dataCorrupted|codingPath|debugDescription)\b"
    r"|Error Domain=|\berrno\b|\bOptional\(|CodingKeys?\(|0x[0-9a-f]{8,}")

seen: list[str] = []


def dump(text: str) -> str | None:
    """What in `text` only a programmer understands; a server's log is for them."""
    for line in text.splitlines():
        if '"level":' not in line and (found := DUMPS.search(line)):
            return f"{found.group(0)!r} in {line[:300]!r}"
    return None


def note(text: bytes | str | None):
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    if text and (found := dump(text)):
        seen.append(found)


def watch():
    read, communicate = http.client.HTTPResponse.read, subprocess.Popen.communicate

    def reads(response, *arguments):
        data = read(response, *arguments)
        if response.status >= 400:
            note(data)
        return data

    def communicates(process, *arguments, **options):
        out, err = communicate(process, *arguments, **options)
        command = process.args if isinstance(process.args, str) else str(process.args[0])
        if pathlib.Path(command).name == "tollgate":
            note(err)
            if process.returncode:
                note(out)
        return out, err

    http.client.HTTPResponse.read, subprocess.Popen.communicate = reads, communicates
