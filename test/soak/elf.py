"""Sections of an ELF file, and the registers of the kernels in its device images."""

import struct

CUDA_MACHINE = 190
REGISTER_COUNT = 0x2F  # EIATTR_REGCOUNT in .nv.info: symbol, registers.
DEVICE_SECTIONS = (".nv_fatbin", "__nv_relfatbin")


class Section:
    def __init__(self, name, kind, flags, data, size, link):
        self.name, self.kind, self.flags = name, kind, flags
        self.data, self.size, self.link = data, size, link


def is_elf(data):
    return data[:6] == b"\x7fELF\x02\x01"


def sections(data):
    """All sections in their order; ValueError where the file is not whole."""
    try:
        offset, = struct.unpack_from("<Q", data, 0x28)
        size, number, names = struct.unpack_from("<HHH", data, 0x3A)
        headers = [struct.unpack_from("<IIQQQQII", data, offset + i * size) for i in range(number)]
        table = headers[names]
        strings = data[table[4]:table[4] + table[5]]
    except (struct.error, IndexError) as error:
        raise ValueError(f"no whole ELF file: {error}") from error
    found = []
    for name, kind, flags, _, at, length, link, _ in headers:
        has_no_bytes = kind in (0, 8)
        if not has_no_bytes and at + length > len(data):
            raise ValueError("a section ends beyond the file")
        content = b"" if has_no_bytes else data[at:at + length]
        text = strings[name:strings.find(b"\0", name)].decode("latin-1")
        found.append(Section(text, kind, flags, content, length, link))
    return found


def device_section(data):
    for section in sections(data):
        if section.name in DEVICE_SECTIONS and section.size:
            return section.data
    return None


def cubins(bytes_):
    """The device images that are not compressed."""
    at = bytes_.find(b"\x7fELF")
    while at >= 0:
        machine = bytes_[at + 18:at + 20]
        if machine == struct.pack("<H", CUDA_MACHINE):
            yield bytes_[at:]
        at = bytes_.find(b"\x7fELF", at + 4)


def registers(cubin):
    """{kernel: registers per thread} of a device image."""
    table = sections(cubin)
    symbols = next((s for s in table if s.name == ".symtab"), None)
    info = next((s for s in table if s.name == ".nv.info"), None)
    if not symbols or not info:
        return {}
    strings = table[symbols.link].data
    entries = {s.name[len(".text."):] for s in table if s.name.startswith(".text.")}
    counts, at = {}, 0
    while at + 4 <= len(info.data):
        form, attribute, size = struct.unpack_from("<BBH", info.data, at)
        at += 4
        if form != 4:
            continue
        if attribute == REGISTER_COUNT:
            symbol, number = struct.unpack_from("<II", info.data, at)
            name, = struct.unpack_from("<I", symbols.data, symbol * 24)
            text = strings[name:strings.find(b"\0", name)].decode("latin-1")
            if text in entries:
                counts[text] = number
        at += size
    return counts


def kernels(data):
    """A list of {kernel: registers}, one for each device image of an object or program; None where
    it has no device code, empty where all of it is compressed or PTX."""
    device = device_section(data)
    if device is None:
        return None
    return [registers(cubin) for cubin in cubins(device)]
