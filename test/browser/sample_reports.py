"""Reports as `carve tune` writes them, made to be hard on a page: all that a kernel may have, many
kernels, names that are long, markup or not ASCII, and one of which little is known."""

import copy


def interval(median, spread=0.01):
    return {"median": median, "low": median * (1 - spread), "high": median * (1 + spread)}


def variant(name, regs, ratio=0.0, spills=0, fault="", carved="", local=0):
    entry = {"name": name, "regs": regs, "spill-bytes": spills,
             "occupancy": 1 if regs <= 32 else 0.5 if regs <= 64 else 0.25, "screening-ratio": ratio,
             "efficiency": 1e-9 * (60 + regs), "utilization": 300 - regs}
    if ratio:
        entry.update({"ratio-low": ratio * 0.985, "ratio-high": ratio * 1.02})
    for key, value in (("fault", fault), ("carved", carved), ("local-bytes", local)):
        if value:
            entry[key] = value
    return entry


def kernel(name="stencil(float*, float const*, int)", share=0.5, tuned=True):
    entry = {
        "kernel": name, "mangled": "_Z7stencilPfPKfi", "output": "app.o", "source": "src/app.cu",
        "share": share, "launches": 1000, "mean-ns": 1e6 * share,
        "regs-before": 40, "regs-after": 64 if tuned else 40,
        "occupancy-before": 0.75, "occupancy-after": 0.5 if tuned else 0.75,
        "spill-bytes-before": 16, "spill-bytes-after": 0 if tuned else 16,
        "efficiency-before": 9e-8, "utilization-before": 240, "local-bytes-before": 64,
        "least-regs": 24, "most-regs": 96,
        "levels": [{"max-regs": 96, "blocks-per-sm": 2, "occupancy": 0.25},
                   {"max-regs": 64, "blocks-per-sm": 4, "occupancy": 0.5},
                   {"max-regs": 40, "blocks-per-sm": 6, "occupancy": 0.75},
                   {"max-regs": 32, "blocks-per-sm": 8, "occupancy": 1}],
        "tuned": tuned, "variant": "r64-f56" if tuned else "default",
        "ratio": interval(0.8) if tuned else interval(1, 0), "pairs": 9 if tuned else 0,
        "reason": "" if tuned else "no variant was faster: the best took 1.004 of the default's time",
        "shapes": ["grid 512x204x1 block 256x1x1 dynamic-smem 0"], "compiled": 14,
        "in-run": {"mode": "replay", "mode-reason": "1000 launches of 500 us",
                   "verified": "bitwise" if tuned else "", "rounds": 7, "ratio": interval(0.81),
                   "control-distance": 0.001, "cold-ns": 5e5, "warm-ns": 4e5, "warm-weight": 0.5},
        "variants": [variant("r24", 24, 1.9, 320, local=2560), variant("r32", 32, 1.2, 64, local=512),
                     variant("r40-smem", 40, 0.97), variant("r48-cg", 48, 0.96),
                     variant("r48-f48-smem-cg", 48, 0.93), variant("r56", 56, 0.9),
                     variant("r64-f56", 64, 0.81), variant("r64", 64, 0.84),
                     variant("r72", 72, 0, fault="its output differs from the default's")],
        "carved": [variant("r28", 28, 0, 160, carved="no better in any metric than r32, and worse in one",
                           local=1280),
                   variant("r80-f255", 80, carved="same code as r72"),
                   variant("r88", 88, carved="no better in any metric than r72, and worse in one")],
        "dropped": ["r96: largest block would shrink"]}
    return entry


def report():
    """Everything once."""
    foreign = kernel("cub::scan(int*)", 0.1, False)
    foreign.update({"reason": "in-no-unit", "variants": [], "carved": [], "dropped": [], "compiled": 0,
                    "levels": [], "occupancy-before": 0, "occupancy-after": 0})
    del foreign["in-run"]
    small = dict(copy.deepcopy(foreign), kernel="init()", share=0.004, reason="below-share")
    names = ["gather(float*)", "scatter(float*)", "advance(double*)", "collide(double*)", "reduce(int*)"]
    others = [kernel(name, 0.06 - 0.005 * i, i % 2 == 1) for i, name in enumerate(names)]
    for entry in others[2:]:  # Pictures of all would cost time and show nothing new.
        entry.update({"variants": [], "carved": [], "dropped": [], "compiled": 0})
    return {
        "carve-report": 1, "date": "2026-11-20T12:00:00Z", "workload": "./app --size 512",
        "device": "NVIDIA H200", "driver": "580.159.03", "nvcc-version": "13.0.88", "scope": "kernel",
        "domain": "preserve", "runs": 42, "runs-before-confirmation": 3, "reruns": ["variant 3 hung"],
        "timing-wall-s": 3.3, "variants-compared": 510, "wall-s": 63.25, "plain-wall-s": 1.5,
        "variants-compiled": 140, "variants-timed": 71, "program": interval(0.9),
        "program-wall": interval(0.97, 0.03), "pairs": 9, "unstable-lines": 3, "unordered-lines": True,
        "processes": 2, "gpus": 2, "note": "",
        "other-gpu-users": [{"pid": 123, "name": "python", "busy-percent": 38}],
        "kernels": [kernel(), *others, foreign, small, dict(small, kernel="fini()")]}


def little_known():
    """One kernel, of which the tuning could measure and count little."""
    little = report()
    little.update({"reruns": [], "timing-wall-s": 0, "variants-compared": 0, "variants-compiled": 0,
                   "other-gpu-users": []})
    little["kernels"] = little["kernels"][:1]
    for entry in little["kernels"]:
        for key in ("mean-ns", "least-regs", "most-regs", "efficiency-before", "utilization-before",
                    "local-bytes-before", "compiled"):
            entry[key] = 0
        entry.update({"source": "", "levels": [], "carved": []})
        del entry["in-run"]
        for one in entry["variants"]:
            for key in ("ratio-low", "ratio-high", "local-bytes", "efficiency", "utilization"):
                one.pop(key, None)
    return little


def not_tuned():
    empty = report()
    empty.update({"note": "the program ended with exit status 4", "kernels": [], "pairs": 0,
                  "program": interval(1, 0), "program-wall": interval(1, 0)})
    return empty


def by_file():
    whole = report()
    whole.update({"scope": "file"})
    for entry in whole["kernels"]:
        entry.update({"carved": [], "compiled": 0, "spill-bytes-before": 0, "spill-bytes-after": 0,
                      "variant": "r64" if entry["tuned"] else "default"})
        for one in entry["variants"]:
            one["spill-bytes"] = 0
            one.pop("local-bytes", None)
    return whole


def hard_names():
    hard = report()
    long = "void ns::detail::kernel<" + ", ".join(["ns::Policy<float, 128, true>"] * 80) + ">(float*)"
    word = "unbroken" * 60 + "(int)"
    evil = "k<1>(</title><script>document.title='x'</script>&amp;\"'größe 計算 \U0001F680)"
    for entry, name in zip(hard["kernels"], (long, word, evil)):
        entry["kernel"] = entry["mangled"] = name
        entry["reason"] = entry["reason"] and "because " + word
        entry["dropped"] = [word, evil]
        entry["source"] = "a/" * 80 + "k.cu"
        entry["carved"][0]["carved"] = evil
    hard["workload"] = "./app " + word + " " + evil
    return hard


def many(count=300):
    big = report()
    one = kernel("advance(double*)", 0.003)
    big["kernels"] = [dict(one, kernel=f"ns::step{i}(double*, int)", share=0.003) for i in range(count)]
    return big


ALL = {"report": report, "little-known": little_known, "not-tuned": not_tuned, "by-file": by_file,
       "hard-names": hard_names, "many": many}
