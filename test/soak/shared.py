#!/usr/bin/env python3
"""Many writers on one store for a while: compiles, tunings, publishers and prunings, some of which are
killed. At the end `carve store verify` has to find nothing, and nothing may be lost: the unit of
every compile that ended well, the decisions of every tuning that ended well, and in the site's store
all decisions that there were when a publisher that ended well was started.

Compiles run against the stand-in for nvcc of the driver tests, so that the store is what takes the
time. Tunings run the real nvcc on recorded samples. With --rules a library is loaded into all
programs that imposes the rules of network file systems (test/driver/StubStoreRules.cpp)."""

import collections
import glob
import json
import os
import random
import shutil
import signal
import sys
import threading
import time

from campaign import (base_environment, crashed, option_parser, parse_options, remove_tree, run, source_of_bulky,
                      write)

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SAMPLES = os.path.join(TESTS, "Inputs", "samples", "three.samples")
SAXPY = ["-O3", "-c", "src/saxpy.cu", "-o"]
BULKY = ["-O3", "-arch=sm_90", "--no-compress", "-c", "three.cu", "-o", "three.o"]


def stand_in(folder):
    """The stand-in for nvcc, with what it needs beside it; its path."""
    inputs = os.path.join(TESTS, "Inputs")
    place = os.path.join(folder, "cuda", "bin")
    os.makedirs(os.path.join(place, "log"))
    shutil.copy(os.path.join(TESTS, "driver", "fake-nvcc.sh"), os.path.join(place, "nvcc"))
    for source, name in (("ptx/kernels.cuda-13.0.88.ptx", "kernels.ptx"),
                         ("ptx/kernels.sm_90.cuda-13.0.88.cubin", "kernels.cubin"),
                         ("nvcc/dryrun-single-13.0.88.txt", "plan")):
        shutil.copy(os.path.join(inputs, source), os.path.join(place, name))
    for name, text in (("stdout", ""), ("stderr", ""), ("log/calls", ""), ("status", "0")):
        write(os.path.join(place, name), text)
    return os.path.join(place, "nvcc")


class Shared:
    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.counts = collections.Counter()
        self.faults = []
        self.outputs = set()    # Of compiles that ended well in the store that is not pruned.
        self.decided = {}       # The decisions of tunings that ended well, by folder.
        self.published = set()  # What has to be in the site's store.
        self.root = os.path.join(options.work, "stores")
        self.site = os.path.join(self.root, "site")
        self.stores = [os.path.join(self.root, name) for name in ("store", "pruned-store")]

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def fault(self, text):
        with self.lock:
            self.faults.append(text)
        print(text, flush=True)

    def environment(self, folder, store, nvcc):
        environment = base_environment(folder, CARVE_STORE=store, CARVE_STORE_SITE=self.site, CARVE_NVCC=nvcc,
                                       CARVE_LOG=os.path.join(folder, "log"), CARVE_RUN="none")
        if self.options.rules:
            environment.update(LD_PRELOAD=self.options.rules_library, STORE_RULES=self.options.rules,
                               STORE_RULES_ROOT=self.root)
        return environment

    def run(self, what, words, folder, environment, generator):
        """Runs a command, and kills it at a random moment if that is its turn. True: it ended well.
        Another program kills it, because this one may wait long for its turn among the writers."""
        killed = generator.random() < self.options.kills
        if killed:
            seconds = self.usual.get(what, 1) * 10 ** generator.uniform(-2, 0.1)
            words = ["timeout", "-s", generator.choice(["KILL", "KILL", "TERM"]), f"{seconds:.4f}", *words]
        start = time.monotonic()
        done = run(words, folder, environment, seconds=600)
        if done.status is None:
            self.fault(f"{what} in {folder} hangs")
            return False
        if killed and done.status in (124, 128 + signal.SIGKILL, -signal.SIGKILL, -signal.SIGTERM):
            self.count(f"{what}s killed")
            return False
        if not killed:
            self.usual[what] = 0.7 * self.usual.get(what, 1) + 0.3 * (time.monotonic() - start)
        if done.status == 0:
            self.count(f"{what}s")
            return True
        if what == "publication" and "another process publishes there" in done.text():
            self.count("publications refused")
        else:
            self.fault(f"{what} in {folder} ends with {done.status}: {done.text()[:400]}")
        return False

    def compile(self, folder, generator):
        store = generator.choice(self.stores)
        nvcc = os.path.join(folder, "cuda", "bin", "nvcc")
        place = os.path.join(folder, "out", f"{generator.randrange(20)}.o")
        if self.run("compile", [self.options.carve_nvcc, *SAXPY, place], folder,
                    self.environment(folder, store, nvcc), generator) and store == self.stores[0]:
            with self.lock:
                self.outputs.add(place)

    def tune(self, folder, generator):
        environment = self.environment(folder, self.stores[0], self.options.nvcc)
        if folder not in self.recorded:
            write(os.path.join(folder, "three.cu"), source_of_bulky())
            if not self.run("recorded compile", [self.options.carve_nvcc, *BULKY], folder, environment, generator):
                return
            self.recorded.add(folder)
        if self.run("tuning", [self.options.carve, "tune", f"--samples={SAMPLES}", "--", "./app"], folder,
                    environment, generator):
            with self.lock:
                self.decided.setdefault(folder, self.decisions_in(self.stores[0]))
            self.recorded.discard(folder)  # The next one starts with the compile again.

    def decisions_in(self, store):
        """The decisions of a store: the texts of those of its files that have any."""
        found = set()
        for path in glob.glob(os.path.join(store, "decisions", "*.yaml")):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if "digest:" in text:
                found.add(os.path.basename(path))
        return found

    def digests_in(self, folder):
        found = set()
        for path in glob.glob(os.path.join(folder, "**", "*.yaml"), recursive=True):
            try:
                with open(path, encoding="utf-8") as file:
                    found.update(line.split(":", 1)[1].strip() for line in file if "  digest:" in line)
            except FileNotFoundError:
                pass  # It was replaced.
        return found

    def publish(self, folder, generator):
        there = self.digests_in(os.path.join(self.stores[0], "decisions"))
        if self.run("publication", [self.options.carve, "store", "publish"], folder,
                    self.environment(folder, self.stores[0], self.options.nvcc), generator):
            with self.lock:
                self.published.update(there)

    def prune(self, folder, generator):
        self.run("pruning", [self.options.carve, "store", "prune", "--max-size=1"], folder,
                 self.environment(folder, self.stores[1], self.options.nvcc), generator)
        time.sleep(1)

    def verify(self, what, store):
        environment = self.environment(self.options.work, store, self.options.nvcc)
        done = run([self.options.carve, "store", "verify"], self.options.work, environment, seconds=600)
        self.count("verifications")
        if done.status != 0 or crashed(done):
            self.fault(f"{what}: store verify of {store}: {done.text()[:1000]}")

    def folder_of(self, name):
        folder = os.path.join(self.options.work, name)
        with self.lock:
            if not os.path.exists(folder):
                for inner in ("tmp", "home", "out"):
                    os.makedirs(os.path.join(folder, inner))
                stand_in(folder)
        return folder

    def writer(self, number, until):
        generator = random.Random(f"shared/{self.options.seed}/{number}")
        # Of 16 writers two tune, one publishes, and one prunes. Those that compile do so by fours in one
        # folder, so that they replace each other's records.
        act = {0: self.tune, 1: self.publish, 2: self.prune, 3: self.tune}.get(number % 16, self.compile)
        folder = self.folder_of(f"place-{number // 4}" if act == self.compile else f"writer-{number}")
        while time.monotonic() < until:
            act(folder, generator)
            if act == self.publish and generator.random() < 0.2:
                self.verify("meanwhile", self.site)

    def check(self):
        """What may not be lost."""
        units = []
        for path in glob.glob(os.path.join(self.stores[0], "units", "*.json")):
            with open(path, encoding="utf-8") as file:
                units.append(json.load(file))
        lost = self.outputs - {unit["output"] for unit in units}
        if lost:
            self.fault(f"{len(lost)} of {len(self.outputs)} units are lost, such as that of {min(lost)}")
        there = self.decisions_in(self.stores[0])
        for folder, files in self.decided.items():
            if files - there:
                self.fault(f"the decisions {sorted(files - there)} are lost, seen after a tuning in {folder}")
        gone = self.published - self.digests_in(os.path.join(self.site, "published"))
        if gone:
            self.fault(f"{len(gone)} of {len(self.published)} published decisions are lost")
        self.counts["units that had to be there"] = len(self.outputs)
        self.counts["decisions that had to be published"] = len(self.published)

    def go(self):
        self.usual, self.recorded = {}, set()
        os.makedirs(self.site)
        start = time.monotonic()
        threads = [threading.Thread(target=self.writer, args=(number, start + self.options.seconds))
                   for number in range(self.options.writers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if not self.decided:
            self.counts["no tuning ended well"] = 1
        # One publisher that is not killed: whatever killed ones have left, it completes.
        self.options.kills = 0
        self.publish(self.folder_of("last"), random.Random(0))
        for store in self.stores + [self.site]:
            self.verify("at the end", store)
        self.check()
        counts = ", ".join(f"{number} {what}" for what, number in sorted(self.counts.items()))
        print(f"shared: seed {self.options.seed}, {self.options.writers} writers, rules "
              f"'{self.options.rules}', {len(self.faults)} faults; {counts}; {time.monotonic() - start:.0f} s")
        return 1 if self.faults else 0


def main():
    parser = option_parser(__doc__, 0)
    parser.add_argument("--seconds", type=float, default=600, help="how long the writers write")
    parser.add_argument("--writers", type=int, default=64)
    parser.add_argument("--kills", type=float, default=0.3, help="which part of the commands is killed")
    parser.add_argument("--rules", default="", help="such as nfs,no-locks,stale")
    parser.add_argument("--rules-library", help="libdriver_store_rules.so")
    options = parse_options(parser)
    if options.rules and not options.rules_library:
        parser.error("--rules needs --rules-library")
    options.work = os.path.join(options.work, f"shared-{options.seed}")
    remove_tree(options.work)
    os.makedirs(options.work)
    status = Shared(options).go()
    if status == 0 and not options.keep_all:
        remove_tree(options.work)
    return status


if __name__ == "__main__":
    sys.exit(main())
