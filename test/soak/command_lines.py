#!/usr/bin/env python3
"""Generated nvcc command lines, run by nvcc, by carve-nvcc with nothing decided, and by carve-nvcc
with a profile in force. Exit status, messages, the files made, their kinds, modes and contents have
to be the same; with a decision all but the tuned device code, and the kernels have their caps."""

import os
import pwd
import shlex
import subprocess
import sys
import tempfile

import elf
from campaign import (Outcome, base_environment, option_parser, parse_options, remove_tree, run,
                      run_campaign, snapshot, strip, without_made_up_names, write)
from command_words import KERNELS, SOURCES, generate, prepare, profile_text

WAYS = ("nvcc", "plain", "decided")
# What gcc and cicc leave in TMPDIR by themselves.
NVCCS_TEMPORARIES = (b".lgenfe.bc",)


def depfile_words(data, folder):
    """The words of a depfile without the files of decisions, and the rules for those."""
    own, inside = os.path.dirname(folder).encode() + b"/", folder.encode() + b"/"
    lines = []
    for line in without_made_up_names(data).replace(b"\\\n", b" ").split(b"\n"):
        given = line.replace(b":", b" : ").split()
        words = [w for w in given if not w.startswith(own) or w.startswith(inside)]
        # A rule of ours alone: a target of the command's and one of our files, or one of our files.
        if words and (words == given or words[-1] != b":"):
            lines.append(words)
    return lines


def same_content(name, ours, theirs, folder, decided):
    """Nothing where the contents count as the same, else what differs."""
    if ours == theirs:
        return ""
    if decided and elf.is_elf(ours) and elf.is_elf(theirs) and not name.endswith(".cubin"):
        return elf_difference(strip(ours), strip(theirs))
    if (elf.is_elf(ours) and elf.is_elf(theirs)) or ours[:8] == theirs[:8] == b"!<arch>\n":
        return "" if strip(ours) == strip(theirs) else "other code"
    if without_made_up_names(ours) == without_made_up_names(theirs):
        return ""
    # A depfile may be written to standard output.
    if name.endswith(".d") or name == "stdout":
        if depfile_words(ours, folder) == depfile_words(theirs, folder):
            return ""
    return first_difference(ours, theirs)


def first_difference(ours, theirs):
    """The first line that differs, without made-up names."""
    a, b = (without_made_up_names(text).split(b"\n") for text in (ours, theirs))
    for number, (x, y) in enumerate(zip(a, b)):
        if x != y:
            return f"line {number + 1} is {x[:200]!r} instead of {y[:200]!r}"
    return f"{len(a)} lines instead of {len(b)}: {(a[len(b):] or b[len(a):])[0][:200]!r}"


def elf_difference(ours, theirs):
    """Of two ELF files whose device section may differ: anything else that does. In what is linked
    sections move with the size of that one, so that their bytes hold other addresses."""
    a, b = elf.sections(ours), elf.sections(theirs)
    linked = ours[16:18] != b"\x01\x00"
    def shape(section):
        size = None if section.name in elf.DEVICE_SECTIONS else section.size
        return (section.name, section.kind, section.flags, size)
    if [shape(s) for s in a] != [shape(s) for s in b]:
        differing = [f"{x and shape(x)} for {y and shape(y)}" for x, y in zip(a, b) if shape(x) != shape(y)]
        return f"other sections: {len(a)} for {len(b)}, " + "; ".join(differing[:4])
    movable = (".strtab", ".symtab", ".shstrtab")
    for x, y in zip(a, b):
        if x.name not in elf.DEVICE_SECTIONS + movable and not linked and x.data != y.data:
            return f"section {x.name} differs"
    return ""


def is_half_linked(data):
    """What ld leaves through a dangling link when it fails: a file without its header yet, whose
    string table holds names of temporaries."""
    return len(data) > 64 and not any(data[:64])


def compare(ours, theirs, folder, decided):
    """Lines of what differs between two results of one command, as (what, file)."""
    found = []
    if ours["status"] != theirs["status"]:
        found.append((f"exit status {ours['status']} instead of {theirs['status']}", "status"))
    for stream in ("stdout", "stderr"):
        why = same_content(stream, ours[stream], theirs[stream], folder, decided)
        if why:
            found.append((f"{stream}: {why}", stream))
    mine, other = ours["files"], theirs["files"]
    for name in sorted(set(mine) | set(other)):
        if name not in mine or name not in other:
            found.append((f"{name}: only {'carve-nvcc' if name in mine else 'nvcc'} leaves it", name))
            continue
        (kind, mode, links, content), (kind2, mode2, links2, content2) = mine[name], other[name]
        if (kind, mode, links) != (kind2, mode2, links2):
            found.append((f"{name}: kind, mode, links {kind:o} {mode:o} {links} instead of "
                          f"{kind2:o} {mode2:o} {links2}", name))
        elif isinstance(content, bytes):
            if ours["status"] != 0 and is_half_linked(content) and is_half_linked(content2):
                continue
            why = same_content(name, content, content2, folder, decided)
            if why:
                found.append((f"{name}: {why}", name))
        elif content != content2:
            found.append((f"{name}: leads to {content} instead of {content2}", name))
    return found


class CommandLines:
    def __init__(self, options):
        self.options = options
        self.prebuilt = self.build_once()
        self.stranger = self.usable_stranger()

    def build_once(self):
        """Objects that commands link, made by nvcc."""
        made = {}
        with tempfile.TemporaryDirectory(dir=self.options.work) as folder:
            for name, text in SOURCES.items():
                write(os.path.join(folder, name), text)
            os.makedirs(os.path.join(folder, "tmp"))
            environment = base_environment(folder)
            for words, name in ((["-c", "steady.cu", "--no-compress", "-arch=sm_90"], "made-before.o"),
                                (["-dc", "callee.cu", "-arch=sm_90"], "rdc.o"),
                                (["-lib", "plain.cpp"], "made-before.a"),
                                (["-ptx", "d2/m.cu", "-arch=sm_90"], "k.ptx")):
                done = run([self.options.nvcc, *words, "-o", name], folder, environment)
                if done.status != 0:
                    sys.exit(f"nvcc cannot make {name}: {done.text()}")
                with open(os.path.join(folder, name), "rb") as file:
                    made[name] = file.read()
        return made

    def usable_stranger(self):
        """An unprivileged user that can run both compilers, where we are root."""
        if os.geteuid() != 0:
            return None
        user = pwd.getpwnam("nobody").pw_uid
        for program in (self.options.nvcc, self.options.carve_nvcc):
            try:
                if run([program, "--version"], self.options.work,
                       base_environment(self.options.work, CARVE_NVCC=self.options.nvcc, TMPDIR="/tmp"),
                       user=user).status != 0:
                    raise PermissionError
            except (PermissionError, subprocess.SubprocessError):
                print(f"user nobody cannot run {program}: no command runs without privileges")
                return None
        return user

    def execute(self, case, folder, way):
        """Runs the command in a fresh folder of always the same name."""
        place = os.path.join(folder, "run")
        remove_tree(place)
        environment = base_environment(folder, CARVE_NVCC=self.options.nvcc, **case.environment)
        environment["CARVE_STORE"] = os.path.join(folder, f"store-{way}")
        log = os.path.join(folder, f"log-{way}")
        if way != "nvcc":
            environment["CARVE_LOG"] = log
        if way == "decided":
            environment["CARVE_PROFILE"] = os.path.join(folder, "profile.yaml")
        os.makedirs(place)
        prepare(case, place, self.prebuilt)
        user = self.stranger if case.stranger else None
        if user is not None:
            subprocess.run(["chown", "-R", "-h", str(user), folder], check=True)
        program = self.options.nvcc if way == "nvcc" else self.options.carve_nvcc
        done = run([program, *case.words], place, environment, user=user, umask=case.umask)
        result = {"status": done.status, "stdout": done.stdout, "stderr": done.stderr,
                  "files": self.named(snapshot(place)), "tmp": self.named(snapshot(os.path.join(folder, "tmp"))),
                  "log": "", "seconds": done.seconds}
        if os.path.exists(log):
            with open(log, errors="replace") as file:
                result["log"] = file.read()
        kept = os.path.join(folder, way)
        remove_tree(kept)
        os.rename(place, kept)
        for name in os.listdir(os.path.join(folder, "tmp")):
            path = os.path.join(folder, "tmp", name)
            remove_tree(path) if os.path.isdir(path) else os.unlink(path)
        return result

    @staticmethod
    def named(files):
        return {os.fsdecode(without_made_up_names(os.fsencode(name))): entry for name, entry in files.items()}

    def reasons(self, case, folder, environment):
        """Why carve-nvcc left commands to nvcc, as the store has counted them. Only its owner may use
        a store."""
        done = run([self.options.carve, "store", "stats"], folder, environment,
                   user=self.stranger if case.stranger else None)
        lines = done.stdout.decode().splitlines()
        return [line.split()[0] for line in lines if line.startswith("  ") and len(line.split()) == 2]

    def check_caps(self, case, folder, result, outcome):
        if result["status"] != 0:
            return
        environment = base_environment(folder, CARVE_STORE=os.path.join(folder, "store-decided"))
        why = None
        for name, (_, _, _, content) in result["files"].items():
            if name in self.prebuilt or not isinstance(content, bytes) or not elf.is_elf(content) or \
                    name.endswith(".cubin"):
                continue
            images = elf.kernels(content)
            if images == []:
                outcome.count("objects without a readable image")
            for kernels in images or []:
                for kernel, cap in KERNELS.items():
                    if kernel not in kernels:
                        continue
                    if kernels[kernel] <= cap:
                        outcome.count("kernels capped")
                        continue
                    why = why or self.reasons(case, folder, environment)
                    said = [line for line in result["log"].splitlines()
                            if kernel in line and "is emitted as" not in line]
                    if why:
                        outcome.count(f"kernels left: {why[0]}")
                    elif said:
                        outcome.count("kernels left: said in the log")
                    elif self.is_linked_in(case, kernel):
                        outcome.count("kernels of objects made before")
                    else:
                        outcome.fault(f"{name}: {kernel} has {kernels[kernel]} registers, expected at most "
                                      f"{cap}, and no reason is counted")

    @staticmethod
    def is_linked_in(case, kernel):
        return kernel == "_Z6steadyPdPKdi" and any(w.startswith("made-before") for w in case.words)

    def case(self, index, generator, folder):
        outcome = Outcome()
        case = generate(generator, self.stranger is not None)
        outcome.notes = case.described()
        for name in ("tmp", "home"):
            os.makedirs(os.path.join(folder, name))
        write(os.path.join(folder, "profile.yaml"), profile_text())
        results = {way: self.execute(case, folder, way) for way in WAYS}
        outcome.count("succeed with nvcc" if results["nvcc"]["status"] == 0 else "fail with nvcc")
        again = None
        place = os.path.join(folder, "run")
        for way in WAYS[1:]:
            found = compare(results[way], results["nvcc"], place, way == "decided")
            if found and again is None:
                again = [self.execute(case, folder, "nvcc") for _ in range(2)]
            for what, name in found:
                own = {n for other in again for _, n in compare(other, results["nvcc"], place, False)}
                if name in own:
                    outcome.count("differences that are nvcc's own")
                else:
                    outcome.fault(f"{way}: {what}")
            for name in results[way]["tmp"]:
                if name not in results["nvcc"]["tmp"] and not name.encode().endswith(NVCCS_TEMPORARIES):
                    outcome.fault(f"{way}: {name} was left in TMPDIR")
        self.check_caps(case, folder, results["decided"], outcome)
        outcome.notes["results"] = {way: {k: v for k, v in r.items() if k not in ("files", "tmp")}
                                    for way, r in results.items()}
        outcome.notes["results"]["command"] = shlex.join(["nvcc", *case.words])
        return outcome


def main():
    options = parse_options(option_parser(__doc__, 2000))
    return run_campaign("command_lines", options, CommandLines(options).case)


if __name__ == "__main__":
    sys.exit(main())
