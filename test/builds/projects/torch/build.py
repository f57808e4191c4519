"""Builds the extension beside this file with torch.utils.cpp_extension of an unpacked torch.

  build.py DIRECTORY-OF-TORCH BUILD-DIRECTORY

Importing torch loads its libraries and all of CUDA's. The module that writes and runs the build
needs none of them, so it is loaded with a torch around it that has only what it asks for.
PYTORCH_NVCC, CUDA_HOME, TORCH_CUDA_ARCH_LIST and CXX hold as they do for users.
"""

import importlib
import os
import sys
import types


def module(name, path=None, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    if path:
        made.__path__ = [path]
        made.__file__ = os.path.join(path, "__init__.py")
    sys.modules[name] = made
    return made


class NoLock:
    def __init__(self, *_):
        pass

    def try_acquire(self):
        return True

    def release(self):
        pass


def load(root):
    built = {"_is_compiled": lambda: True, "is_available": lambda: True}
    torch = module("torch", root)
    torch.cuda = module("torch.cuda", **built)
    torch.xpu = module("torch.xpu", _is_compiled=lambda: False)
    torch.backends = types.SimpleNamespace(mps=types.SimpleNamespace(is_built=lambda: False))
    module("torch.utils", os.path.join(root, "utils"))
    module("torch.utils._filelock", FileLock=NoLock)
    module("torch._utils_internal", get_file_path=lambda *parts: os.path.join(root, *parts[1:]))
    torch.version = importlib.import_module("torch.version")
    return importlib.import_module("torch.utils.cpp_extension")


def main():
    root, build = sys.argv[1:]
    extension = load(root)
    here = os.path.dirname(os.path.abspath(__file__))
    os.makedirs(build, exist_ok=True)
    extension._write_ninja_file_and_build_library(
        name="scaling",
        sources=[os.path.join(here, "binding.cpp"), os.path.join(here, "scale.cu")],
        extra_cflags=["-O2"],
        extra_cuda_cflags=["-O3", "-lineinfo"],
        extra_sycl_cflags=None,
        extra_ldflags=["-Wl,--build-id=none"],
        extra_include_paths=None,
        build_directory=build,
        verbose=True,
        with_cuda=True,
        with_sycl=False,
    )


main()
