"""What the campaigns have in common: options, cases side by side, folders of failures, a summary.

A campaign is a function that is given the number of a case, a random generator of that case's own
and an empty folder, and returns an Outcome. Case I of seed S is the same in every run, whatever
the number of jobs, so that `--seed=S --only=I` repeats it.
"""

import argparse
import collections
import contextlib
import concurrent.futures
import json
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import traceback

NAMES_OF_ONE_RUN = [
    (re.compile(rb"tmpxft_[0-9a-f]+_[0-9a-f]+(-[0-9]+_?)?"), b""),
    (re.compile(rb"carve-nvcc-[0-9]+[-/][^/ \"':]+/"), b""),
    (re.compile(rb"cc[0-9A-Za-z]{6}\.(o|s|res|c|ltrans|cdtor)"), b"ccX.\\1"),
    (re.compile(rb"Compile time = [0-9.]+ ms"), b"Compile time"),
]


def without_made_up_names(text):
    """Bytes without the names and times that nvcc makes up for one run."""
    for pattern, replacement in NAMES_OF_ONE_RUN:
        text = pattern.sub(replacement, text)
    return text


class Outcome:
    """What became of a case: faults as text, and counts for the summary."""

    def __init__(self):
        self.faults = []
        self.counts = collections.Counter()
        self.notes = {}  # Goes into the folder of a failure.

    def fault(self, text):
        self.faults.append(text)

    def count(self, what, number=1):
        self.counts[what] += number


class Ran:
    """A process that has ended: `status` is negative for a signal, None where it hung."""

    def __init__(self, status, stdout, stderr, seconds):
        self.status, self.stdout, self.stderr, self.seconds = status, stdout, stderr, seconds

    def text(self):
        return (self.stdout + self.stderr).decode("utf-8", "replace")


def group_alive(pgid):
    try:
        os.killpg(pgid, 0)
        return True
    except ProcessLookupError:
        return False
    except PermissionError:
        return True


def kill_group(pgid, number=signal.SIGKILL):
    try:
        os.killpg(pgid, number)
    except (ProcessLookupError, PermissionError):
        pass


# A program that takes more memory than any compile needs fails by itself, and not others with it.
MEMORY_LIMIT = ["prlimit", f"--as={12 << 30}", "--"] if shutil.which("prlimit") else []


def run(words, folder, environment, seconds=120, user=None, umask=0o022):
    """Runs a command in a process group of its own with nothing on standard input. Output goes to
    files, so that a process that is left behind cannot keep us waiting."""
    start = time.monotonic()
    more = {"user": user, "group": user, "extra_groups": []} if user is not None else {}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        if user is not None:
            # A command may open /dev/stdout, which asks for the rights to the file behind it.
            os.fchown(out.fileno(), user, user)
            os.fchown(err.fileno(), user, user)
        process = subprocess.Popen(MEMORY_LIMIT + words, cwd=folder, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   start_new_session=True, umask=umask, **more)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
            kill_group(process.pid)
            process.wait()
        out.seek(0)
        err.seek(0)
        return Ran(status, out.read(), err.read(), time.monotonic() - start)


def remove_tree(path):
    """Removes a folder whatever the modes in it are."""
    def again(function, name, _):
        for at in (os.path.dirname(name), name):
            try:
                if not os.path.islink(at):
                    os.chmod(at, 0o700)
            except OSError:
                pass
        try:
            function(name)
        except OSError:
            pass
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, onerror=again)


def snapshot(root, contents=True):
    """What lies below a folder: {relative path: (kind, mode, link count, target or bytes)}."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = os.path.join(folder, name)
            info = os.lstat(path)
            kind = stat.S_IFMT(info.st_mode)
            content = None
            if kind == stat.S_IFLNK:
                content = os.readlink(path)
            elif kind == stat.S_IFREG and contents:
                with open(path, "rb") as file:
                    content = file.read()
            links = info.st_nlink if kind == stat.S_IFREG else 1
            found[os.path.relpath(path, root)] = (kind, stat.S_IMODE(info.st_mode), links, content)
    return found


def write(path, text, mode=None):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb" if isinstance(text, bytes) else "w") as file:
        file.write(text)
    if mode is not None:
        os.chmod(path, mode)


def base_environment(folder, **more):
    """Nothing of the caller's but where programs are found. No GPU is seen."""
    environment = {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C",
        "HOME": os.path.join(folder, "home"), "TMPDIR": os.path.join(folder, "tmp"),
        "CUDA_VISIBLE_DEVICES": "", "CARVE_EFFORT": "0",
        "CARVE_STORE": os.path.join(folder, "store"),
    }
    environment.update(more)
    return environment


class Slots:
    """Folders whose paths are the same for case after case, one for each job: a compile's result
    depends on its path. `prepare(folder)` fills a slot once; what it returns belongs to the slot."""

    def __init__(self, options, prepare):
        self.options, self.prepare = options, prepare
        self.free, self.lock, self.made = [], threading.Lock(), 0

    @contextlib.contextmanager
    def take(self):
        with self.lock:
            taken = self.free.pop() if self.free else None
            if taken is None:
                self.made += 1
                number = self.made
        if taken is None:
            folder = os.path.join(self.options.work, f"slot-{number}")
            remove_tree(folder)
            os.makedirs(folder)
            taken = (folder, self.prepare(folder))
        try:
            yield taken
        finally:
            with self.lock:
                self.free.append(taken)

    def clear(self):
        for folder, _ in self.free:
            remove_tree(folder)


def empty(folder):
    """Removes what lies in a folder, and not the folder."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isdir(path) and not os.path.islink(path):
            remove_tree(path)
        else:
            os.unlink(path)


def strip(data):
    """An ELF file without symbols, debug information and build identifier, which hold names of
    temporaries; other bytes as they are."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        done = subprocess.run(["strip", "-D", "-R", ".note.gnu.build-id", file.name],
                              capture_output=True)
        if done.returncode != 0:
            return data
        with open(file.name, "rb") as stripped:
            return stripped.read()


def crashed(ran):
    """Whether a program of ours ended as none may: by a signal of its own, or by an assertion."""
    if ran.status is None:
        return "it hung"
    if ran.status < 0 and -ran.status in (4, 6, 7, 8, 11):
        return f"signal {-ran.status}"
    if -ran.status == 9:
        return "it was killed: out of memory"
    for sign in (b"terminate called", b"PLEASE submit a bug report", b"LLVM ERROR", b"bad_alloc"):
        if sign in ran.stderr:
            return sign.decode()
    return ""


def option_parser(description, count):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=count, help=f"cases (default: {count})")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", type=int, action="append", help="this case alone; repeatable")
    parser.add_argument("--nvcc", default=os.environ.get("CARVE_NVCC") or shutil.which("nvcc") or
                        "/usr/local/cuda/bin/nvcc")
    parser.add_argument("--bin-dir", help="the folder of carve-nvcc and carve")
    parser.add_argument("--carve-nvcc", help="instead of --bin-dir")
    parser.add_argument("--work", help="where to work, and keep the folders of failures "
                        "(default: a new temporary folder)")
    parser.add_argument("--keep-all", action="store_true", help="keep the folder of every case")
    return parser


def parse_options(parser):
    options = parser.parse_args()
    if options.carve_nvcc:
        options.bin_dir = os.path.dirname(os.path.abspath(options.carve_nvcc))
    elif options.bin_dir:
        options.bin_dir = os.path.abspath(options.bin_dir)
        options.carve_nvcc = os.path.join(options.bin_dir, "carve-nvcc")
    else:
        parser.error("--bin-dir or --carve-nvcc is needed")
    options.carve_nvcc = os.path.abspath(options.carve_nvcc)
    options.carve = os.path.join(options.bin_dir, "carve")
    for program in (options.carve_nvcc, options.carve):
        if not os.access(program, os.X_OK):
            parser.error(f"{program} is no program")
    if not os.access(options.nvcc, os.X_OK):
        print(f"skipped: no nvcc at {options.nvcc}")
        sys.exit(77)  # What ctest counts as skipped.
    options.nvcc = os.path.abspath(options.nvcc)
    options.work = os.path.abspath(options.work or tempfile.mkdtemp(prefix="soak-"))
    os.makedirs(options.work, exist_ok=True)
    os.chmod(options.work, 0o755)  # Some cases run as another user.
    return options


def keep_failure(options, name, index, outcome, folder):
    kept = os.path.join(options.work, f"failure-{name}-{options.seed}-{index}")
    remove_tree(kept)
    os.rename(folder, kept)
    words = [sys.executable, os.path.abspath(sys.argv[0]), f"--seed={options.seed}",
             f"--only={index}", f"--nvcc={options.nvcc}", f"--carve-nvcc={options.carve_nvcc}",
             "--keep-all"]
    write(os.path.join(kept, "repeat.sh"), "#!/bin/sh\nexec " + " ".join(words) + ' "$@"\n', 0o755)
    write(os.path.join(kept, "faults.txt"), "\n".join(outcome.faults) + "\n")
    write(os.path.join(kept, "case.json"), json.dumps(outcome.notes, indent=1, default=repr) + "\n")
    return kept


def source_of_bulky():
    """three.cu with only its kernel bulky, which compiles in much less time."""
    inputs = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Inputs", "samples")
    with open(os.path.join(inputs, "three.cu"), encoding="utf-8") as file:
        text = file.read()
    for name in ("steady", "noisy", "bounded", "hidden"):
        text, kernels = re.subn(rf"__global__ void [^{{}}\n]*\b{name}\(double[^{{}}]*{{[^{{}}]*}}\n", "", text)
        text, launches = re.subn(rf" *{name}<<<.*\n", "", text)
        if (kernels, launches) != (1, 1):
            raise RuntimeError(f"three.cu has {kernels} definitions and {launches} launches of {name}")
    return text


def run_campaign(name, options, case):
    """Runs all cases and prints the summary; the exit status of the program."""
    start = time.monotonic()
    indexes = options.only or list(range(options.count))
    total, failures = Outcome(), 0

    def one(index):
        folder = os.path.join(options.work, f"case-{index}")
        remove_tree(folder)
        os.makedirs(folder)
        generator = random.Random(f"{name}/{options.seed}/{index}")
        try:
            outcome = case(index, generator, folder)
        except Exception:  # A fault of the campaign counts as one: no case goes unseen.
            outcome = Outcome()
            outcome.fault("the campaign itself failed: " + traceback.format_exc())
        return index, outcome, folder

    with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
        for done in concurrent.futures.as_completed([pool.submit(one, i) for i in indexes]):
            index, outcome, folder = done.result()
            total.counts.update(outcome.counts)
            if outcome.faults:
                failures += 1
                kept = keep_failure(options, name, index, outcome, folder)
                print(f"case {index}: " + "\n    ".join(outcome.faults) + f"\n    kept: {kept}",
                      flush=True)
            elif not options.keep_all:
                remove_tree(folder)
    if not failures and not options.keep_all:
        try:
            os.rmdir(options.work)
        except OSError:
            pass
    counts = ", ".join(f"{number} {what}" for what, number in sorted(total.counts.items()))
    print(f"{name}: seed {options.seed}, {len(indexes)} cases, {failures} with faults; {counts}; "
          f"{time.monotonic() - start:.0f} s", flush=True)
    return 1 if failures or not indexes else 0
