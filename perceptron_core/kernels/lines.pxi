# Lines: bytes without line ends, for Hadoop's readers.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize

cdef uint8_t ESCAPE = 0x1B


def escape_line_ends(const uint8_t[::1] data not None):
    """ESC, LF and CR as ESC e, ESC n and ESC r; all other bytes as they are."""
    cdef Py_ssize_t i, n = data.shape[0], extra = 0
    cdef uint8_t byte
    for i in range(n):
        byte = data[i]
        extra += (byte == ESCAPE) | (byte == 10) | (byte == 13)
    escaped = PyBytes_FromStringAndSize(NULL, n + extra)
    cdef uint8_t *to = <uint8_t *>PyBytes_AS_STRING(escaped)
    for i in range(n):
        byte = data[i]
        if (byte == ESCAPE) | (byte == 10) | (byte == 13):
            to[0] = ESCAPE
            byte = 101 if byte == ESCAPE else 110 if byte == 10 else 114
            to += 1
        to[0] = byte
        to += 1
    return escaped


def restore_line_ends(const uint8_t[::1] text not None):
    """The inverse; an ESC before any other byte stays as it is."""
    cdef Py_ssize_t i, n = text.shape[0]
    plain = np.empty(n, np.uint8)
    cdef uint8_t[::1] data = plain
    cdef uint8_t byte, following
    cdef Py_ssize_t used = 0
    i = 0
    while i < n:
        byte = text[i]
        if byte == ESCAPE and i + 1 < n:
            following = text[i + 1]
            if following == 101 or following == 110 or following == 114:
                byte = ESCAPE if following == 101 else 10 if following == 110 else 13
                i += 1
        data[used] = byte
        used += 1
        i += 1
    return plain[:used].tobytes()
