"""The sources of the generated commands, and the commands themselves: words, environment, and what
lies in the folder before."""

import os
import shlex
import stat

from campaign import write

# Caps that a profile pins, by kernel. All of these kernels use more registers by themselves.
KERNELS = {"_Z5bulkyPdPKdi": 40, "_Z6steadyPdPKdi": 32, "_Z4tmplIdEvPT_PKS0_i": 40,
           "_Z5otherPdPKdi": 32, "_Z6callerPdPKdi": 48, "_Z7guardedPdPKdi": 40}

MIX = """
template <int Values> __device__ __forceinline__ void mix(double *Y, const double *X, int N) {
  double A[Values];
#pragma unroll
  for (int I = 0; I < Values; ++I)
    A[I] = X[(threadIdx.x * Values + I) % N];
  for (int Round = 0; Round < N; ++Round)
#pragma unroll
    for (int I = 0; I < Values; ++I)
      A[I] = A[(I + 1) % Values] * 1.0625 + A[I];
#pragma unroll
  for (int I = 0; I < Values; ++I)
    Y[threadIdx.x * Values + I] = A[I];
}
"""

SOURCES = {
    "inc/mix.h": "#pragma once\n" + MIX,
    "inc/pre.h": "#define PREINCLUDED 1\n",
    "main.cu": '#include "inc/mix.h"\n#include <cstdio>\n'
               "__global__ void bulky(double *Y, const double *X, int N) { mix<30>(Y, X, N); }\n"
               "#ifdef TEXT\nconst char *Text = TEXT;\n#endif\n"
               "int main() { bulky<<<1, 32>>>(nullptr, nullptr, 0); std::puts(\"main\"); }\n",
    "steady.cu": '#include "inc/mix.h"\n'
                 "__global__ void steady(double *Y, const double *X, int N) { mix<24>(Y, X, N); }\n"
                 "void runSteady() { steady<<<1, 32>>>(nullptr, nullptr, 0); }\n",
    "tmpl.cu": '#include "inc/mix.h"\n'
               "template <typename T> __global__ void tmpl(T *Y, const T *X, int N) "
               "{ mix<28>(Y, X, N); }\n"
               "namespace { __global__ void hidden(double *Y, const double *X, int N) "
               "{ mix<20>(Y, X, N); } }\n"
               "template __global__ void tmpl<double>(double *, const double *, int);\n"
               "void runTmpl() { tmpl<double><<<1, 32>>>(nullptr, nullptr, 0);\n"
               "  hidden<<<1, 32>>>(nullptr, nullptr, 0); }\n",
    "caller.cu": '#include "inc/mix.h"\nextern __device__ double callee(double);\n'
                 "__global__ void caller(double *Y, const double *X, int N) {\n"
                 "  mix<26>(Y, X, N); Y[0] = callee(Y[0]); }\n",
    "callee.cu": "__device__ double callee(double X) { return X * 2; }\n",
    "host.cu": "#include <vector>\nint hostOnly() { return std::vector<int>(3).size(); }\n",
    "guard.cu": '#include "inc/mix.h"\n'
                "#ifndef __CUDA_ARCH__\n#include <vector>\n"
                "std::vector<int> hostSide() { return {1, 2}; }\n#endif\n"
                "__global__ void guarded(double *Y, const double *X, int N) { mix<25>(Y, X, N); }\n",
    "plain.cpp": "int plain(int X) { return X + 1; }\n",
    "plain.c": "int plainC(int X) { return X + 2; }\n",
    "entry.cpp": "int main() { return 0; }\n",
    "d1/m.cu": '#include "../inc/mix.h"\n'
               "__global__ void other(double *Y, const double *X, int N) { mix<22>(Y, X, N); }\n",
    "d2/m.cu": "__global__ void second(int *P) { *P = 1; }\n",
    "a name/s p.cu": "__global__ void spaced(int *P) { *P = 2; }\n",
    "broken.cu": "__global__ void broken(int *P) { *P = ; }\n",
    "warns.cu": "__global__ void warns(int *P) { int Unused; *P = 3; }\n"
                "static int neverUsed() { return 1; }\n",
    "badasm.cu": '__global__ void badasm(int *P) { asm("no.such.instruction;"); }\n',
    "empty.cu": "",
    "flags.rsp": "-O2 -DFROM_FILE=1\n",
    "nested.rsp": "--options-file flags.rsp\n-lineinfo\n",
    "notes.txt": "no source\n",
}

COMPILABLE = ["main.cu"] * 6 + ["steady.cu"] * 4 + ["tmpl.cu"] * 5 + ["guard.cu"] * 3 + [
    "d1/m.cu", "d2/m.cu", "host.cu", "caller.cu", "callee.cu", "a name/s p.cu", "plain.cpp",
    "plain.c", "warns.cu", "empty.cu"]
WRONG = ["broken.cu", "badasm.cu", "missing.cu", "notes.txt", "inc", ""]

TARGETS = [
    (60, ["-arch=sm_90"]), (24, ["-arch", "sm_80"]), (24, []), (18, ["--gpu-architecture=sm_75"]),
    (18, ["-gencode", "arch=compute_90,code=sm_90"]),
    (18, ["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=[sm_90,compute_90]"]),
    (9, ["--generate-code=arch=compute_75,code=sm_75", "-gencode", "arch=compute_86,code=sm_86",
         "-gencode", "arch=compute_90,code=compute_90"]),
    (12, ["-gencode", "arch=compute_90,code=compute_90"]), (9, ["-arch=compute_90"]),
    (9, ["-arch=compute_80", "-code=sm_80,sm_86"]), (9, ["-arch=compute_80", "-code", "compute_80"]),
    (6, ["-arch=native"]), (6, ["-arch=sm_90a"]), (1, ["-arch=sm_999"]), (1, ["-code=sm_90"]),
    (1, ["-gencode", "arch=compute_10,code=sm_10"]), (1, ["-arch=sm_90", "-arch=sm_80"]),
    (1, ["-gencode", "nonsense"]), (1, ["-arch=all-major"]),
]

OPTIONS = [
    (32, ["-O3"]), (12, ["-O0"]), (12, ["-O2"]), (8, ["--optimize", "1"]), (3, ["-O", "3"]),
    (16, ["-g"]), (8, ["-G"]), (16, ["-lineinfo"]), (3, ["--generate-line-info"]), (8, ["-G", "-O2"]),
    (16, ["-DVALUE"]), (12, ["-D", "VALUE=3"]), (12, ['-DTEXT="a b"']), (8, ['-DTEXT="a,b"']),
    (8, ["-DTEXT=\"a'b\""]), (8, ["--define-macro=A=1,B=2"]), (3, ["-DTEXT=\"$HOME\""]),
    (8, ["-UVALUE"]), (16, ["-Iinc"]), (8, ["-I", "inc"]), (8, ["--include-path=inc,d1"]),
    (8, ["-isystem", "inc"]), (8, ["-include", "inc/pre.h"]), (1, ["-include=missing.h"]),
    (16, ["-std=c++17"]), (8, ["--std", "c++20"]), (1, ["-std=c++03"]), (1, ["-std=c++99"]),
    (12, ["--use_fast_math"]), (3, ["-use_fast_math"]), (8, ["-ftz=true"]), (8, ["-fmad=false"]),
    (3, ["--prec-div", "false"]), (1, ["-prec-sqrt=maybe"]),
    (16, ["-maxrregcount=32"]), (8, ["--maxrregcount", "64"]), (3, ["-maxrregcount=0"]),
    (3, ["-maxrregcount=300"]), (12, ["-Xptxas", "-v"]), (8, ["-Xptxas=-v,-O2"]),
    (8, ["-Xptxas", "-maxrregcount=40"]), (8, ["--ptxas-options=-dlcm=cg"]),
    (1, ["-Xptxas", "--no-such-option"]), (3, ["-Xptxas", "-warn-spills"]), (8, ["-res-usage"]),
    (1, ["-Xptxas", "-o,zz.cubin"]),
    (20, ["-Xcompiler", "-fPIC"]), (12, ["-Xcompiler=-Wall,-Wextra"]), (8, ["-Xcompiler", "-fPIC -O1"]),
    (8, ["-Xcompiler", '-DQ="a b"']), (8, ["-Xcompiler", "-DQ=\\\"a\\,b\\\""]),
    (8, ["-Xcompiler", "'-DQ=1'"]), (3, ["--compiler-options", "-fopenmp"]),
    (8, ["-Xcompiler", "-o", "-Xcompiler", "zz.o"]), (3, ["-Xcompiler=-o,zz.o"]),
    (1, ["-Xcompiler", "--no-such-option"]), (3, ["-Xcompiler", "@host.rsp"]),
    (3, ["-Xcompiler", "-MD,-MF,host.d"]), (3, ["-Xcompiler", "-save-temps"]),
    (8, ["-ccbin", "g++"]), (3, ["-ccbin=/usr/bin/g++"]), (3, ["--compiler-bindir", "/usr/bin"]),
    (1, ["-ccbin", "no-such-compiler"]), (3, ["-ccbin", "g++ -m64"]),
    (8, ["-Xlinker", "--as-needed"]), (8, ["-lm"]), (3, ["-L."]), (1, ["-lno-such-library"]),
    (8, ["-cudart=none"]), (3, ["--cudart", "static"]), (20, ["-rdc=true"]), (8, ["-dc"]),
    (3, ["--relocatable-device-code=false"]), (8, ["--keep"]), (3, ["--keep", "--keep-dir", "d1"]),
    (8, ["-v"]), (8, ["-w"]), (8, ["-Werror", "all-warnings"]), (3, ["-Xcudafe", "--display_error_number"]),
    (3, ["-diag-suppress=177"]), (3, ["--expt-relaxed-constexpr"]), (3, ["--extended-lambda"]),
    (8, ["--threads", "2"]), (3, ["-t4"]), (3, ["--split-compile=2"]), (3, ["-t0"]),
    (3, ["--default-stream=per-thread"]), (8, ["--compress-mode=size"]), (3, ["-Xfatbin", "-compress-all"]),
    (3, ["-time", "times.csv"]), (3, ["-restrict"]), (3, ["-dlto"]), (3, ["-ewp"]), (3, ["-Ofc", "max"]),
    (8, ["-forward-unknown-to-host-compiler", "-fno-strict-aliasing"]),
    (3, ["-forward-unknown-to-host-compiler", "-Wall", "-fPIC"]), (1, ["-Wall"]), (1, ["-fPIC"]),
    (1, ["-pthread"]), (1, ["--nonsense"]), (1, ["-ofoo"]), (1, ["@flags.rsp"]), (3, ["-x", "cu"]),
    (1, ["-x=c++"]), (3, ["-m64"]), (1, ["-m32"]), (3, ["-noeh"]), (3, ["-objtemp"]),
    (3, ["-src-in-ptx"]), (3, ["-odir", "made"]), (1, ["-odir", "missing"]), (3, ["-noprof"]),
    (3, ["-err-no"]), (3, ["-extra-device-vectorization"]), (3, ["-pg"]), (1, ["-link"]),
    (3, ["--Wno-deprecated-gpu-targets"]), (3, ["-Wreorder"]), (3, ["-frandom-seed=7"]),
    (3, ["-e", "bulky"]), (1, ["-host-r"]), (1, ["-ldir", "missing"]), (3, ["-jump-table-density=100"]),
]

DEPENDENCIES = [
    (10, ["-MD"]), (4, ["-MMD"]), (6, ["-MD", "-MF", "dep.d"]), (2, ["-MD", "-MF=dep.d"]),
    (3, ["--generate-dependencies-with-compile", "--dependency-output", "dep.d"]),
    (3, ["-MD", "-MP", "-MF", "dep.d"]), (3, ["-MD", "-MT", "target", "-MF", "dep.d"]),
    (2, ["-MD", "-MT", "a b", "-MF", "dep.d"]), (1, ["-MF", "dep.d"]), (1, ["-MD", "-MF", "missing/dep.d"]),
    (1, ["-MMD", "-MP"]), (1, ["-MD", "-MF", "a name/dep.d"]), (1, ["-MD", "-MF", "/dev/stdout"]),
    (1, ["-MD", "-MF", "link.d"]), (1, ["-MD", "-MT", "$(obj)", "-MF", "dep.d"]),
]

PRODUCTS = [
    (40, ["-c"]), (4, ["--compile"]), (18, []), (6, ["-dc"]), (4, ["-rdc=true", "-c"]), (4, ["-ptx"]),
    (4, ["-cubin"]), (3, ["-fatbin"]), (3, ["-E"]), (2, ["-M"]), (2, ["-MM"]), (4, ["--dryrun"]),
    (3, ["-lib"]), (4, ["-shared", "-Xcompiler", "-fPIC"]), (2, ["-cuda"]), (2, ["-rdc=true"]),
    (2, ["-dw"]), (1, ["-c", "-ptx"]), (1, ["-optix-ir"]), (1, ["--list-gpu-arch"]), (1, ["-dlink"]),
    (1, ["--version"]), (1, ["-clean", "-c"]), (1, ["--preprocess"]),
]

# Where the output goes, and what is there before.
PLACES = [
    (24, "plain"), (14, "default"), (8, "existing"), (4, "folder"), (4, "symlink"), (3, "dangling"),
    (2, "link-to-link"), (3, "hard-link"), (2, "read-only"), (1, "no-folder"), (1, "is-folder"),
    (3, "read-only-folder"), (3, "long"), (1, "too-long"), (3, "odd-name"), (2, "absolute"),
    (1, "empty-name"), (2, "no-suffix"), (1, "long-form"), (2, "link-elsewhere"), (1, "odd-mode"),
    (1, "twice"), (1, "source"),
]

ENVIRONMENT = [
    (4, ("NVCC_APPEND_FLAGS", "-lineinfo")), (4, ("NVCC_PREPEND_FLAGS", "-O2")),
    (2, ("NVCC_APPEND_FLAGS", "-arch=sm_80")), (2, ("NVCC_PREPEND_FLAGS", "-DVALUE=\"a b\"")),
    (2, ("NVCC_APPEND_FLAGS", "-maxrregcount=32")), (1, ("NVCC_APPEND_FLAGS", "--nonsense")),
    (1, ("NVCC_APPEND_FLAGS", "--keep")), (1, ("NVCC_CCBIN", "g++")), (1, ("NVCC_PREPEND_FLAGS", "-MD")),
    (1, ("NVCC_APPEND_FLAGS", "-o elsewhere.o")), (1, ("NVCC_APPEND_FLAGS", "")),
    (1, ("CPATH", "inc")), (1, ("NVCC_APPEND_FLAGS", "--options-file flags.rsp")),
]


def weighted(generator, table):
    return generator.choices([value for _, value in table], [weight for weight, _ in table])[0]


class Case:
    """One command: `words` after the compiler's name, and how the folder is prepared."""

    def __init__(self):
        self.words, self.environment, self.place, self.output = [], {}, "default", None
        self.stranger, self.umask, self.rsp = False, 0o022, []

    def described(self):
        return {"words": self.words, "shell": shlex.join(self.words), "place": self.place,
                "environment": self.environment, "unprivileged": self.stranger,
                "umask": oct(self.umask), "option-files": self.rsp}


def suffix_of(words):
    for word, suffix in (("-ptx", ".ptx"), ("-cubin", ".cubin"), ("-fatbin", ".fatbin"),
                         ("-lib", ".a"), ("-shared", ".so"), ("-c", ".o"), ("--compile", ".o"),
                         ("-dc", ".o"), ("-dw", ".o"), ("-dlink", ".o")):
        if word in words:
            return suffix
    return ""


def output_words(case, generator, suffix):
    place = case.place
    names = {"plain": "result" + suffix, "existing": "result" + suffix, "folder": "made/result" + suffix,
             "symlink": "link" + suffix, "dangling": "link" + suffix, "link-to-link": "link" + suffix,
             "hard-link": "hard" + suffix, "read-only": "fixed" + suffix,
             "no-folder": "missing/result" + suffix, "is-folder": "made",
             "read-only-folder": "closed/result" + suffix, "long": "n" * 230 + suffix,
             "too-long": "n" * 260 + suffix, "odd-name": generator.choice(
                 ["a b", "a'b", "ä", "a$b", "a%b", "a:b", "-dash", "a,b", "a#b", "a=b", ".hidden"]) + suffix,
             "absolute": "@/made/result" + suffix, "empty-name": "", "no-suffix": "result",
             "long-form": "result" + suffix, "link-elsewhere": "link" + suffix,
             "odd-mode": "modes" + suffix, "twice": "result" + suffix, "source": "steady.cu"}
    if place == "default":
        return []
    case.output = names[place]
    form = "--output-file" if place == "long-form" else "-o"
    words = generator.choice([[form, case.output], [f"{form}={case.output}"]]) \
        if case.output and not case.output.startswith("-") else [form, case.output]
    return words + (["-o", "other" + suffix] if place == "twice" else [])


def generate(generator, may_be_stranger):
    case = Case()
    product = weighted(generator, PRODUCTS)
    pool = COMPILABLE if generator.random() > 0.04 else WRONG
    inputs = [generator.choice(pool)]
    while generator.random() < (0.25 if product in ([], ["-shared", "-Xcompiler", "-fPIC"]) else 0.06):
        inputs.append(generator.choice(COMPILABLE[6:] + ["made-before.o", "made-before.a", "rdc.o", "k.ptx"]))
    if product in (["-dlink"],):
        inputs = ["rdc.o"]
    elif not product and generator.random() < 0.15:
        inputs = [generator.choice(["made-before.o", "rdc.o"]), "entry.cpp"]
    elif product in ([], ["-rdc=true"]) and generator.random() < 0.85 and "main.cu" not in inputs:
        inputs = ["main.cu"] + [i for i in inputs if i not in ("entry.cpp", "caller.cu")][1:]
    elif generator.random() < 0.03:
        inputs = generator.choice([["d1/m.cu", "d2/m.cu"], ["k.ptx"], [], ["caller.cu", "callee.cu"]])
    words = [list(product), list(weighted(generator, TARGETS)), [i for i in inputs if i]]
    for _ in range(generator.choice([0, 1, 1, 2, 2, 3, 4, 6])):
        words.append(list(weighted(generator, OPTIONS)))
    if generator.random() < 0.25:
        words.append(list(weighted(generator, DEPENDENCIES)))
    # So that device code can be read by the campaign.
    if generator.random() < 0.9:
        words.append(["--no-compress"])
    case.place = weighted(generator, PLACES)
    words.append(output_words(case, generator, suffix_of(sum(words, []))))
    if generator.random() < 0.5:
        generator.shuffle(words)
    if generator.random() < 0.08:
        moved = words.pop(generator.randrange(len(words)))
        name = f"case{generator.randrange(3)}.rsp"
        case.rsp.append((name, "\n".join(shlex.quote(w) for w in moved) + "\n"))
        words.append(generator.choice([["--options-file", name], ["-optf", name], [f"-optf={name}"],
                                       ["--options-file", "nested.rsp", "-optf", name],
                                       ["-optf", "missing.rsp"]]))
    if generator.random() < 0.02:
        words.append([generator.choice(["-o", "-Xptxas", "-D", "-MF", "-gencode", "-x"])])
    case.words = sum(words, [])
    if generator.random() < 0.15:
        name, value = weighted(generator, ENVIRONMENT)
        case.environment[name] = value
    case.umask = generator.choice([0o022] * 8 + [0o002, 0o077])
    closed = case.place in ("read-only", "read-only-folder", "link-elsewhere", "odd-mode")
    case.stranger = may_be_stranger and (closed or generator.random() < 0.1)
    return case


def prepare(case, folder, prebuilt):
    """Makes the folder in which the command runs; `prebuilt` are objects that nvcc made once."""
    for name, text in SOURCES.items():
        write(os.path.join(folder, name), text)
    for name, data in prebuilt.items():
        write(os.path.join(folder, name), data)
    for name, text in case.rsp:
        write(os.path.join(folder, name), text)
    write(os.path.join(folder, "host.rsp"), "-DHOST_FILE=1\n")
    for name in ("made", "closed", "elsewhere"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    os.symlink("elsewhere/dep.d", os.path.join(folder, "link.d"))
    prepare_output(case, folder)
    case_time = 1700000000
    for parent, folders, files in os.walk(folder):
        for name in folders + files:
            os.utime(os.path.join(parent, name), (case_time, case_time), follow_symlinks=False)


def prepare_output(case, folder):
    if not case.output or case.place in ("too-long", "source"):
        return
    path = os.path.join(folder, case.output.replace("@", folder, 1))
    old = "what was there before\n"
    target = os.path.join(folder, "elsewhere", "target")
    if case.place == "existing":
        write(path, old)
    elif case.place in ("symlink", "link-elsewhere"):
        write(target, old)
        os.symlink("elsewhere/target", path)
        if case.place == "link-elsewhere":
            os.chmod(os.path.dirname(target), 0o555)
    elif case.place == "dangling":
        os.symlink("elsewhere/target", path)
    elif case.place == "link-to-link":
        write(target, old)
        os.symlink("target", os.path.join(folder, "elsewhere", "second"))
        os.symlink("elsewhere/second", path)
    elif case.place == "hard-link":
        write(target, old)
        os.link(target, path)
    elif case.place == "read-only":
        write(path, old, 0o444)
    elif case.place == "odd-mode":
        write(path, old, 0o640 | stat.S_ISVTX)
    elif case.place == "read-only-folder":
        write(path, old)
        os.chmod(os.path.dirname(path), 0o555)
    case.words = [w.replace("@", folder, 1) if w.endswith(case.output) else w for w in case.words]


def profile_text():
    lines = ["carve-profile: 1", "kernels:"]
    for name, cap in KERNELS.items():
        lines += [f'  - kernel: "{name}"', f"    variant: {{cap: {cap}}}"]
    return "\n".join(lines) + "\n"
