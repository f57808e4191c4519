#!/usr/bin/env python3
"""Damages stores in every way that a disk, another program or an enemy can, and compiles with them.
The object has to be the one that nvcc makes or the tuned one, nothing may hang or crash, no file
outside the store may change, and `carve store verify` repairs what is wrong or says it."""

import json
import os
import shutil
import subprocess
import sys

from campaign import (Outcome, Slots, base_environment, crashed, empty, option_parser, parse_options,
                      run, run_campaign, snapshot, source_of_bulky, strip, write)

INPUTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Inputs", "samples")
COMPILE = ["-O3", "-arch=sm_90", "--no-compress", "-MD", "-c", "three.cu", "-o", "out/three.o"]
TIME_LIMIT_S = 90
ENTRY = "carve-profile: 1\nkernels:\n  - kernel: \"bulky(double*, double const*, int)\"\n    variant: "
PROFILES = {"cap.yaml": ENTRY + "{cap: 40}\n", "frontend.yaml": ENTRY + "{cap: 48, frontend-cap: 48}\n",
            "default.yaml": ENTRY + "default\n"}


def files_of(store):
    found = []
    for folder, _, names in os.walk(store):
        found += [os.path.join(folder, name) for name in names]
    return sorted(found)


def replace_by(path, make):
    """Puts something else in the place of a file."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)
    make(path)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def leaves(value, path=()):
    """The paths of all scalars and lists in a JSON value."""
    if isinstance(value, dict):
        for key in value:
            yield from leaves(value[key], path + (key,))
    elif isinstance(value, list):
        yield path
        for number, item in enumerate(value):
            yield from leaves(item, path + (number,))
    else:
        yield path


def put(value, path, new):
    for key in path[:-1]:
        value = value[key]
    value[path[-1]] = new


class Damage:
    """What is done to one file, by a random choice."""

    def __init__(self, generator, slot, is_root):
        self.generator, self.slot, self.is_root = generator, slot, is_root
        self.store = os.path.join(slot, "store")
        self.done = []

    def note(self, what, path):
        self.done.append(f"{what}: {os.path.relpath(path, self.store)}")

    def bit_flip(self, path):
        data = bytearray(read(path))
        for _ in range(self.generator.choice([1, 1, 2, 8])):
            if data:
                data[self.generator.randrange(len(data))] ^= 1 << self.generator.randrange(8)
        write(path, bytes(data))

    def truncation(self, path):
        data = read(path)
        write(path, data[:self.generator.randrange(len(data) + 1)] if self.generator.random() < 0.8 else b"")

    def garbage(self, path):
        size = self.generator.choice([1, 40, 5000, 200000])
        write(path, self.generator.choice([self.generator.randbytes(size), b"\0" * size, b"{" * size,
                                           b"\xff\xfe" * size]))

    def other_record(self, path):
        folder = os.path.dirname(path)
        others = [f for f in files_of(self.store) if os.path.isfile(f) and f != path]
        beside = [f for f in others if os.path.dirname(f) == folder]
        choice = self.generator.choice(beside if beside and self.generator.random() < 0.5 else others)
        write(path, read(choice))

    def fifo(self, path):
        replace_by(path, os.mkfifo)

    def endless_link(self, path):
        replace_by(path, lambda p: os.symlink("/dev/zero", p))

    def dangling_link(self, path):
        replace_by(path, lambda p: os.symlink(self.generator.choice(["nowhere", path, "/proc/self/mem"]), p))

    def folder(self, path):
        replace_by(path, os.mkdir)

    def full_folder(self, path):
        replace_by(path, lambda p: write(os.path.join(p, "inside", "file"), "text"))

    def link_to_victim(self, path):
        victim = os.path.join(self.slot, "victim", "precious")
        replace_by(path, lambda p: os.symlink(victim, p))

    def linked_folder(self, path):
        folder = os.path.dirname(path)
        replace_by(folder, lambda p: os.symlink(os.path.join(self.slot, "victim"), p))

    def sparse(self, path):
        with open(path, "r+b") as file:
            file.truncate(3 << 30)

    def missing(self, path):
        os.unlink(path)

    def mode(self, path):
        os.chmod(path, self.generator.choice([0o000, 0o666, 0o777, 0o222, 0o4755]))

    def folder_mode(self, path):
        os.chmod(self.generator.choice([os.path.dirname(path), self.store]),
                 self.generator.choice([0o777, 0o555, 0o1777]))

    def owner(self, path):
        if self.is_root:
            os.chown(self.generator.choice([path, os.path.dirname(path)]), 65534, 65534)
        else:
            self.mode(path)

    def blob_length(self, path):
        data = read(path)
        line, _, rest = data.partition(b"\n")
        words = line.split(b" ")
        if words[0] == b"carve-blob":
            words[-1] = self.generator.choice([b"0", b"1", b"18446744073709551615", b"99999999999", b"-1", b""])
            write(path, b" ".join(words) + b"\n" + rest)
        else:
            self.garbage(path)

    def hostile_words(self):
        victim = os.path.join(self.slot, "victim")
        return [f"touch {victim}/pwned", f"{victim}/pwned", "../../victim/pwned", "../victim/pwned", "/bin/sh",
                "/etc/passwd", "/dev/zero", "", ".", "..", "a\0b", "x" * 100000, f"--create={victim}/pwned",
                f"-o={victim}/pwned", "--options-file=/dev/zero", "\u202e", "%s%n%n", "$(touch pwned)",
                f";touch {victim}/pwned;", "-keep", f"--keep-dir={victim}", "three.cu"]

    def hostile_field(self, path):
        """One or several fields of a record become something that nobody would write."""
        try:
            record = json.loads(read(path))
        except (ValueError, UnicodeDecodeError):
            self.garbage(path)
            return
        for _ in range(self.generator.choice([1, 1, 2, 4])):
            paths = [p for p in leaves(record) if p]
            if not paths:
                break
            put(record, self.generator.choice(paths), self.generator.choice(
                self.hostile_words() + [-1, 1 << 63, 1 << 62, 1.5e300, None, True, [], {}, {"hex": "zz"},
                                        ["/bin/sh", "-c", self.hostile_words()[0]], [[]] * 3]))
        write(path, json.dumps(record))

    def hostile_program(self, path):
        """A front end that is a shell, and names that lead out of their folder."""
        try:
            record = json.loads(read(path))
        except (ValueError, UnicodeDecodeError):
            self.hostile_field(path)
            return
        touch = self.hostile_words()[0]
        for step in record.get("front-ends", []) if isinstance(record, dict) else []:
            step.update({"cicc": "/bin/sh", "arguments": ["-c", touch]} if self.generator.random() < 0.5 else
                        {"ptx-name": "../../victim/pwned", "input-name": "../../victim/pwned"})
        if isinstance(record, dict) and record.get("object"):
            record["object"].update(self.generator.choice(
                [{"fatbin-name": "../../victim/pwned"}, {"keep-dir": os.path.join(self.slot, "victim")},
                 {"fatbinary-arguments": [f"--create={self.slot}/victim/pwned"]}]))
        for image in record.get("images", []) if isinstance(record, dict) else []:
            image.update(self.generator.choice(
                [{"ptx-name": "../../victim/pwned", "cubin-name": "../../victim/pwned"},
                 {"ptxas-options": ["-o", f"{self.slot}/victim/pwned"]},
                 {"ptxas-options": ["--options-file", "/dev/zero"]}, {}]))
        write(path, json.dumps(record))

    def deep(self, path):
        size = self.generator.choice([1000, 100000, 2000000])
        write(path, self.generator.choice([b"[" * size, b'{"a":' * size, b"[" * size + b"]" * size,
                                           b"kernels: " + b"[" * size, b"- " * size]))

    def nul(self, path):
        data = bytearray(read(path))
        data.insert(self.generator.randrange(len(data) + 1), 0)
        write(path, bytes(data))

    KINDS = ["bit_flip"] * 5 + ["truncation"] * 4 + ["garbage"] * 3 + ["other_record"] * 3 + ["fifo"] * 3 + [
        "endless_link"] * 2 + ["dangling_link"] * 2 + ["folder"] * 2 + ["full_folder", "link_to_victim",
        "linked_folder", "missing", "mode", "folder_mode"] + ["sparse"] * 2 + ["owner"] * 2 + [
        "blob_length"] * 2 + ["hostile_field"] * 6 + ["hostile_program"] * 4 + ["deep"] * 2 + ["nul"] * 2

    def apply(self):
        """Damages one to all files of the store."""
        files = files_of(self.store)
        kind = self.generator.choice(self.KINDS)
        if kind in ("hostile_field", "hostile_program"):
            files = [f for f in files if f.endswith((".json", ".yaml"))]
        number = self.generator.choice([1, 1, 1, 2, 3, len(files)])
        if kind in ("sparse", "deep"):
            number = min(number, 2)
        for path in self.generator.sample(files, min(number, len(files))):
            if os.path.isfile(path) and not os.path.islink(path):
                try:
                    getattr(self, kind)(path)
                    self.note(kind, path)
                except FileNotFoundError:
                    pass  # Its folder went with an earlier one.
        return kind


class Stores:
    def __init__(self, options):
        self.options = options
        self.slots = Slots(options, self.prepare)

    def environment(self, slot, profile=None):
        environment = base_environment(slot, CARVE_NVCC=self.options.nvcc)
        environment["CARVE_LOG"] = os.path.join(slot, "tmp.log")
        if profile:
            environment["CARVE_PROFILE"] = profile
        return environment

    def carve_nvcc(self, slot, *more, profile=None):
        return run([self.options.carve_nvcc, *COMPILE, *more], slot, self.environment(slot, profile), TIME_LIMIT_S)

    def object_of(self, slot):
        try:
            return strip(read(os.path.join(slot, "out", "three.o")))
        except FileNotFoundError:
            return b""

    def must(self, slot, profile, *more):
        done = self.carve_nvcc(slot, *more, profile=profile)
        if done.status != 0:
            raise RuntimeError(f"carve-nvcc fails: {done.text()}")
        return self.object_of(slot)

    def prepare(self, slot):
        """A store with units, flavours, decisions, an attempt and a report; the right objects."""
        write(os.path.join(slot, "three.cu"), source_of_bulky())
        shutil.copy(os.path.join(INPUTS, "three.samples"), slot)
        for name, text in PROFILES.items():
            write(os.path.join(slot, name), text)
        for name in ("tmp", "home", "out"):
            os.makedirs(os.path.join(slot, name))
        environment = self.environment(slot)
        if run([self.options.nvcc, *COMPILE], slot, environment).status != 0:
            raise RuntimeError("nvcc fails")
        plain = self.object_of(slot)
        # Each profile's object where the store has no decisions, and where it has.
        right = {name: [self.must(slot, name)] for name in PROFILES}
        right[None] = [plain]
        for _ in range(2):
            tuned = self.must(slot, None, "--carve-samples=three.samples")
        for name in (*PROFILES, None):
            right[name].append(self.must(slot, name))
        if right[None] != [plain, tuned] or len({plain, tuned, *right["cap.yaml"], *right["frontend.yaml"]}) < 4:
            raise RuntimeError("samples and profiles do not make the objects that they should")
        os.rename(os.path.join(slot, "store"), os.path.join(slot, "whole-store"))
        shutil.copytree(os.path.join(slot, "out"), os.path.join(slot, "whole-out"))
        return right

    def restore(self, slot):
        """The slot as it was prepared, but for times: those of files that a record stamps stay."""
        for name in ("store", "out", "tmp", "victim"):
            path = os.path.join(slot, name)
            if os.path.islink(path):
                os.unlink(path)
            elif os.path.isdir(path):
                subprocess.run(["chmod", "-R", "u+rwx", path], check=False)
                empty(path)
                os.rmdir(path)
        for name in ("store", "out"):
            subprocess.run(["cp", "-a", f"whole-{name}", name], cwd=slot, check=True)
        os.mkdir(os.path.join(slot, "tmp"))
        write(os.path.join(slot, "victim", "precious"), "precious\n")

    @staticmethod
    def outside(slot):
        return {name: entry for name, entry in snapshot(slot).items()
                if name.split("/")[0] not in ("store", "out", "tmp", "tmp.log", "whole-store")}

    def check(self, done, what, outcome):
        why = crashed(done)
        if why:
            outcome.fault(f"{what}: {why}: {done.text()[:300]}")
        return not why

    def case(self, index, generator, folder):
        outcome = Outcome()
        with self.slots.take() as (slot, right):
            self.restore(slot)
            before = self.outside(slot)
            damage = Damage(generator, slot, os.geteuid() == 0)
            kind = damage.apply()
            outcome.count(kind.replace("_", " "))
            profile = generator.choice([None, None, "frontend.yaml", "frontend.yaml", "cap.yaml", "default.yaml"])
            again = not profile and generator.random() < 0.3
            outcome.notes.update({"damage": damage.done, "profile": profile, "tuned again": again})
            self.use(slot, right, profile, again, generator, outcome)
            after = self.outside(slot)
            for name in set(before) | set(after):
                # A folder of the store that is a link is the user's own way to keep it elsewhere.
                if before.get(name) != after.get(name) and not (kind == "linked_folder" and name not in before):
                    outcome.fault(f"{name} was made, changed or removed outside the store")
            if outcome.faults:
                outcome.faults.insert(0, "; ".join(damage.done[:4]) + f"; profile {profile}")
                subprocess.run(["chmod", "-R", "u+rwX", os.path.join(slot, "store")], check=False)
                shutil.copy(os.path.join(slot, "tmp.log"), folder) if os.path.exists(
                    os.path.join(slot, "tmp.log")) else None
        return outcome

    def use(self, slot, right, profile, again, generator, outcome):
        """A compile with the damaged store, then verify, repair, verify, and a compile once more."""
        more = ["--carve-samples=three.samples"] if again else []
        if generator.random() < 0.4:
            self.check(run([self.options.carve, *generator.choice(
                [["report"], ["explain"], ["store", "stats"], ["touch", "--dry-run"], ["export", "--as=flags"],
                 ["tune", "--samples=three.samples", "--", "./app"]])],
                slot, self.environment(slot), TIME_LIMIT_S), "a command of carve", outcome)
        self.compile(slot, right, profile, more, "the compile", outcome)
        verify = [self.options.carve, "store", "verify"]
        first = run(verify, slot, self.environment(slot), TIME_LIMIT_S)
        self.check(first, "store verify", outcome)
        repaired = run(verify + ["--repair"], slot, self.environment(slot), TIME_LIMIT_S)
        self.check(repaired, "store verify --repair", outcome)
        last = run(verify, slot, self.environment(slot), TIME_LIMIT_S)
        self.check(last, "store verify", outcome)
        if last.status == 0:
            outcome.count("stores whole after a repair")
        elif last.text().strip():
            outcome.count("stores that verify says are not whole")
        else:
            outcome.fault(f"store verify ends with {last.status} and says nothing")
        self.compile(slot, right, profile, more, "the compile after the repair", outcome)

    def compile(self, slot, right, profile, more, what, outcome):
        done = self.carve_nvcc(slot, *more, profile=profile)
        if not self.check(done, what, outcome):
            return
        if done.status != 0 or done.stdout or done.stderr:
            outcome.fault(f"{what} ends with {done.status}: {done.text()[:300]}")
        made = self.object_of(slot)
        # What a profile says does not depend on the store; without one a store that is refused, or
        # has lost its decisions, means nvcc's object.
        if made in right[profile]:
            outcome.count("objects: as with the whole store" if made == right[profile][1] else
                          "objects: as without a store")
        else:
            known = [str(name) for name, data in right.items() if made in data]
            outcome.fault(f"{what}: the object is not one of the right ones, but "
                          f"{known or f'another of {len(made)} bytes'}")


def main():
    options = parse_options(option_parser(__doc__, 500))
    stores = Stores(options)
    status = run_campaign("stores", options, stores.case)
    stores.slots.clear()
    return status


if __name__ == "__main__":
    sys.exit(main())
