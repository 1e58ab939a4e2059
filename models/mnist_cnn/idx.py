"""Reads and writes IDX files, the format MNIST comes in (plain or gzip)."""

import gzip
import struct
from pathlib import Path

import numpy as np

UNSIGNED_BYTE = 0x08


def read_idx(path: Path) -> np.ndarray:
    """Returns the unsigned bytes of an IDX file in the shape its header names."""
    raw = path.read_bytes()
    if path.suffix == ".gz":
        raw = gzip.decompress(raw)
    if len(raw) < 4 or raw[:3] != bytes((0, 0, UNSIGNED_BYTE)):
        raise ValueError(f"{path}: not an IDX file of unsigned bytes")
    dimensions = raw[3]
    data_start = 4 + 4 * dimensions
    if len(raw) < data_start:
        raise ValueError(f"{path}: the IDX header is cut short")
    shape = struct.unpack(f">{dimensions}I", raw[4:data_start])
    data = np.frombuffer(raw, dtype=np.uint8, offset=data_start)
    if data.size != np.prod(shape):
        raise ValueError(f"{path}: {data.size} bytes of data do not fill the shape {shape}")
    return data.reshape(shape)


def write_idx(path: Path, array: np.ndarray) -> None:
    """Writes unsigned bytes; the same array always gives the same file."""
    if array.dtype != np.uint8:
        raise ValueError(f"{path}: only unsigned bytes are written, not {array.dtype}")
    raw = struct.pack(f">BBBB{array.ndim}I", 0, 0, UNSIGNED_BYTE, array.ndim, *array.shape)
    raw += array.tobytes()
    path.write_bytes(gzip.compress(raw, mtime=0) if path.suffix == ".gz" else raw)
