"""Bytes without line ends."""

ESCAPES = ((b"\x1b", b"\x1be"), (b"\n", b"\x1bn"), (b"\r", b"\x1br"))  # the escape itself first


def escape_line_ends(data: bytes) -> bytes:
    """ESC, LF and CR as ESC e, ESC n and ESC r; all other bytes as they are."""
    for byte, escape in ESCAPES:
        data = data.replace(byte, escape)
    return data


def restore_line_ends(text: bytes) -> bytes:
    """The inverse; an ESC before any other byte stays as it is."""
    for byte, escape in reversed(ESCAPES):
        text = text.replace(escape, byte)
    return text
