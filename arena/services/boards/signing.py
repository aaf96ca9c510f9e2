"""Exports signed and checked, as minisign does: an Ed25519 key, over the checksums of an export.

Source: minisign, "Signature format" and "Public key format" of its manual (prehashed signatures).
"""

from __future__ import annotations

import base64
import hashlib
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from arena.services.boards.verification import SIGNATURE
from arena.services.rounds.export import CHECKSUMS
from data.errors import FileFormatError, InputError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_MARK, SIGNATURE_MARK = b"Ed", b"ED"
KEY_ID, PUBLIC, SIGNED = 8, 32, 64
MAKE = "Make one: `openssl genpkey -algorithm ed25519 -out FILE`."
NO_KEY = "Take the key from the page About of the site that exported it."


class Signature(StrEnum):
    """What is known of who exported a folder."""

    NONE = "none"
    UNCHECKED = "unchecked"
    GOOD = "good"


def public_key(key_file: Path) -> str:
    """The public key of a private one, as minisign writes it.

    Raises:
        InputError: The file holds no Ed25519 key.
    """
    return _written(KEY_MARK, *_public(_private_key(key_file)))


def sign_folder(folder: Path, key_file: Path) -> None:
    """Sign the checksums of an export.

    Raises:
        InputError: The file holds no Ed25519 key.
    """
    key = _private_key(key_file)
    number, _ = _public(key)
    signature = key.sign(_digest(folder))
    comment = f"{folder.name}: {CHECKSUMS} of a round exported by Answer Arena"
    lines = (
        "untrusted comment: signature of an export of Answer Arena",
        _written(SIGNATURE_MARK, number, signature),
        f"trusted comment: {comment}",
        base64.b64encode(key.sign(signature + comment.encode())).decode(),
    )
    (folder / SIGNATURE).write_text("\n".join(lines) + "\n", encoding="utf-8")


def check_signature(folder: Path, public: str) -> Signature:
    """Check who signed an export.

    Args:
        folder: The export.
        public: The public key, as minisign writes it; empty where it is not known.

    Raises:
        FileFormatError: There is no signature by this key.
        InputError: That is no public key.
    """
    path = folder / SIGNATURE
    if not public:
        return Signature.UNCHECKED if path.is_file() else Signature.NONE
    mark, number, key = _parts(public, KEY_ID, PUBLIC)
    if mark != KEY_MARK:
        raise InputError("That is no public key of minisign.", advice=NO_KEY)
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - only signatures need it
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 - as above

    try:
        _, line, comment, whole = path.read_text(encoding="utf-8").splitlines()
        mark, signer, signature = _parts(line, KEY_ID, SIGNED)
        if (mark, signer) != (SIGNATURE_MARK, number):
            raise InvalidSignature
        opened = Ed25519PublicKey.from_public_bytes(key)
        opened.verify(signature, _digest(folder))
        opened.verify(base64.b64decode(whole), signature + comment.removeprefix("trusted comment: ").encode())
    except (OSError, ValueError, InputError, InvalidSignature) as error:
        message = f"{folder} is not signed by that key."
        raise FileFormatError(message, advice="Do not trust this export.", code="unsigned") from error
    return Signature.GOOD


def _private_key(path: Path) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - as above
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415 - as above

    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"ARENA_SIGNING_KEY names {path}, which holds no key.", advice=MAKE) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"ARENA_SIGNING_KEY names {path}, which is no Ed25519 key.", advice=MAKE)
    return key


def _public(key: Ed25519PrivateKey) -> tuple[bytes, bytes]:
    """The number by which a key is known, and the key."""
    raw = key.public_key().public_bytes_raw()
    return hashlib.blake2b(raw, digest_size=KEY_ID).digest(), raw


def _digest(folder: Path) -> bytes:
    return hashlib.blake2b((folder / CHECKSUMS).read_bytes()).digest()


def _written(mark: bytes, number: bytes, rest: bytes) -> str:
    return base64.b64encode(mark + number + rest).decode()


def _parts(text: str, *lengths: int) -> tuple[bytes, bytes, bytes]:
    try:
        raw = base64.b64decode(text.strip(), validate=True)
    except ValueError as error:
        raise InputError("That is no public key of minisign.", advice=NO_KEY) from error
    if len(raw) != len(KEY_MARK) + sum(lengths):
        raise InputError("That is no public key of minisign.", advice=NO_KEY)
    return raw[:2], raw[2 : 2 + KEY_ID], raw[2 + KEY_ID :]
