#!/usr/bin/env python3
"""Makes a table for `carve evaluate` of the reports of timing runs of everything (programs.py --modes=all).

    sweep_table.py REPORT.json... > TABLE.tsv

A row has the time of one kernel in one setting: the default's, by the ratio that the timing run found. Settings with the
code of another one have its time. All launches count as of the kernel's first shape, since a ratio is of all of them.
Variants at fault, and those that are composed of several settings, are left out."""

import json
import os
import re
import sys

from predicted_ratios import keys_of

COLUMNS = ("program", "kernel", "grid", "block", "static_smem_bytes", "dynamic_smem_bytes", "frontend_cap", "ptxas_cap",
           "register_usage_level", "dlcm", "regs_per_thread", "launches", "total_ns", "smem_spilling",
           "front_end_knob", "restrict", "known_ptx", "optimization_level", "spill_bytes", "occupancy", "efficiency",
           "utilization")
# The columns of the keys that a profile has for them.
COLUMN_OF = {"cap": "ptxas_cap", "frontend-cap": "frontend_cap", "frontend-knob": "front_end_knob",
             "known-ptx": "known_ptx", "smem-spilling": "smem_spilling", "load-cache": "dlcm",
             "register-usage-level": "register_usage_level", "optimization-level": "optimization_level"}

# keys_of() leaves it out: a profile has it only in an entry with a guard, which predicted_ratios.py does not write.
RESTRICT = "restrict"


def setting(name):
    """The columns of the variant NAME, or nothing if they do not say what it is."""
    parts = [part for part in name.split("-") if part not in ("default", RESTRICT)]
    keys = keys_of("-".join(parts)) if parts else {}
    if keys is None:
        return None
    return {"register_usage_level": "5", "smem_spilling": "0", "known_ptx": "0",
            "restrict": str(int(RESTRICT in name.split("-"))),
            **{COLUMN_OF[key]: "1" if value == "true" else value for key, value in keys.items()}}


def extents(text):
    """`4x32` as `4,32,1`."""
    return ",".join((text.split("x") + ["1", "1"])[:3])


def rows_of(program, kernel):
    """The rows of one kernel of a report."""
    grid, block, dynamic = re.match(r"grid (\S+) block (\S+) dynamic-smem (\d+)", kernel["shapes"][0]).groups()
    total = kernel["launches"] * kernel["mean-ns"]

    def row(name, ratio, code):
        columns = setting(name)
        return columns and {**columns, "program": program, "kernel": kernel["mangled"], "grid": extents(grid),
                            "block": extents(block), "static_smem_bytes": "0", "dynamic_smem_bytes": dynamic,
                            "launches": str(kernel["launches"]), "total_ns": f"{total * ratio:.0f}",
                            "regs_per_thread": str(code["regs"]), "spill_bytes": str(code.get("spill-bytes", 0)),
                            **{key: repr(code[key]) for key in ("occupancy", "efficiency", "utilization")
                               if key in code}}

    default = {"regs": kernel["regs-before"], **{key: kernel[key + "-before"] for key in
                                                 ("spill-bytes", "occupancy", "efficiency", "utilization")
                                                 if key + "-before" in kernel}}
    ratios = {"default": 1, **{variant["name"]: variant["screening-ratio"] for variant in kernel["variants"]
                               if variant["screening-ratio"] > 0 and "fault" not in variant}}
    rows = [row("default", 1, default)]
    rows += [row(code["name"], ratios[code["name"]], code) for code in kernel["variants"] if code["name"] in ratios]
    for code in kernel.get("carved", []):
        same = re.match(r"same code as (\S+)", code["carved"])
        if same and same[1] in ratios:
            rows.append(row(code["name"], ratios[same[1]], code))
    return [each for each in rows if each]


def main(paths):
    if not paths or paths[0] in ("-h", "--help"):
        sys.exit(__doc__)
    rows = []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                kernels = json.load(file)["kernels"]
            program = os.path.splitext(os.path.basename(path))[0]
            rows += [row for kernel in kernels for row in rows_of(program, kernel)]
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            sys.exit(f"sweep_table.py: {path}: {type(error).__name__}: {error}, expected a report as JSON")
    print(*COLUMNS, sep="\t")
    for row in rows:
        print(*(row.get(column, "-") for column in COLUMNS), sep="\t")


if __name__ == "__main__":
    main(sys.argv[1:])
