"""Runs Python code where the kernel refuses a system call, as containers do: `refused_calls.py pkey_alloc CODE`."""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
import sys

NUMBERS = {"pkey_alloc": {"x86_64": 330, "aarch64": 289}}
NO_NEW_PRIVILEGES, SET_FILTER, FILTER_MODE = 38, 22, 2
"""Arguments of `prctl`."""


def refuse(name: str) -> None:
    """Let a call fail from now on, in this process and its children."""
    libc = ctypes.CDLL(None, use_errno=True)
    # load the call's number; if it is not this one, skip the next line; fail with EPERM; allow
    lines = [(0x20, 0, 0, 0), (0x15, 0, 1, NUMBERS[name][platform.machine()])]
    lines += [(0x06, 0, 0, 0x00050000 | errno.EPERM), (0x06, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(lines), ctypes.addressof(code)))
    for arguments in ((NO_NEW_PRIVILEGES, 1, 0, 0, 0), (SET_FILTER, FILTER_MODE, ctypes.byref(program), 0, 0)):
        if libc.prctl(*arguments):
            raise OSError(ctypes.get_errno(), "prctl refuses a filter of system calls")
    if libc.pkey_alloc(0, 0) != -1 or ctypes.get_errno() != errno.EPERM:
        raise OSError(f"{name} still works")


if __name__ == "__main__":
    refuse(sys.argv[1])
    exec(sys.argv[2])  # noqa: S102
