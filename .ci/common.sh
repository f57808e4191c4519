# shellcheck shell=bash
# Sourced by the scripts beside it: where the CUDA toolkit is, and how a build directory is made.
# No text goes to standard output here but what a function is asked for.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

say() { printf '== %s\n' "$*"; }
fail() {
  printf '%s: error: %s\n' ".ci/$(basename "$0")" "$*" >&2
  exit 1
}

# The toolkit that .ci/install fetches where the machine has none.
FetchedToolkit=$PWD/build/toolkit/cuda

# The script of axe-core that .ci/install fetches for test/browser.
AxeFolder=$PWD/build/axe
AxeScript=$AxeFolder/axe_playwright_python/axe.min.js

# A browser without a window, found as test/browser finds it; nothing where there is none.
machineBrowser() {
  type -P "${CARVE_BROWSER:-chromium-headless-shell}" || type -P chromium || true
}

# Whether $1 is an nvcc of CUDA 13.0 or newer, the oldest whose headers we build with.
recentNvcc() {
  local Release
  Release=$("$1" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
  [[ -n $Release && $Release -ge 13 ]]
}

# The machine's own nvcc, found as carve-nvcc finds it; nothing where there is none.
machineNvcc() {
  local Nvcc
  for Nvcc in "${CARVE_NVCC:-}" "$(type -P nvcc || true)" "${CUDA_PATH:-}/bin/nvcc" \
    "${CUDA_HOME:-}/bin/nvcc" /usr/local/cuda/bin/nvcc; do
    if [[ -x $Nvcc ]] && recentNvcc "$Nvcc"; then
      printf '%s\n' "$Nvcc"
      return
    fi
  done
}

# Parts of the toolkit, as the index of Python packages has them: a compiler, its headers and
# libraries, and CUPTI. The package cuda-toolkit knows which releases of them belong together.
ToolkitParts=nvcc,nvvm,crt,cudart,cccl,cupti,profiler

# fetchToolkit RELEASE LINK: puts the toolkit 13.x into the folder of LINK, which then leads to it.
# The parts come without the links that a toolkit has.
fetchToolkit() {
  local Release=$1 Link=$2 Target Root Library
  Target=$(dirname "$Link")
  say "fetching nvcc $Release into ${Target#"$PWD"/}"
  rm -rf "$Target"
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
    --target "$Target" "cuda-toolkit[$ToolkitParts]==$Release.*" || return 1
  Root=$(dirname "$(dirname "$(find "$Target" -path '*/bin/nvcc' -type f | head -n 1)")")
  ln -sfn lib "$Root/lib64"
  for Library in "$Root"/lib/lib*.so.*; do
    ln -sf "$(basename "$Library")" "${Library%.so.*}.so"
  done
  ln -sfn "${Root#"$Target"/}" "$Link"
  recentNvcc "$Link/bin/nvcc"
}

# The nvcc behind $1, which may be a script that runs it: the one in the folder that its dryrun names.
nvccBehind() {
  local Here
  Here=$("$1" --dryrun -x cu -c /dev/null -o /dev/null 2>&1 | sed -n 's/^#\$ _HERE_=//p')
  if [[ -x $Here/nvcc ]]; then
    printf '%s\n' "$Here/nvcc"
  else
    printf '%s\n' "$1"
  fi
}

# Makes nvcc known to CMake, to the tests and to carve-nvcc: sets CudaOptions for cmake. The tests of
# carve-nvcc below a script in nvcc's place write scripts of their own.
useToolkit() {
  local Nvcc
  CudaOptions=()
  Nvcc=$(machineNvcc)
  [[ -z $Nvcc ]] || Nvcc=$(nvccBehind "$Nvcc")
  if [[ -z $Nvcc ]]; then
    Nvcc=$FetchedToolkit/bin/nvcc
    [[ -x $Nvcc ]] || fail "no nvcc of CUDA 13.0 or newer; .ci/install fetches one"
    CudaOptions=(-DCUDAToolkit_ROOT="$FetchedToolkit")
  fi
  export CARVE_NVCC=$Nvcc
  PATH=$(dirname "$Nvcc"):$PATH
  say "CUDA: $Nvcc, $("$Nvcc" --version | sed -n 's/.*release.*, V/V/p')"
}

# configure BUILD-DIR [cmake options]
configure() {
  local Dir=$1
  shift
  cmake -G Ninja -S . -B "$Dir" --log-level=NOTICE -DCARVE_TESTS=ON -DCARVE_WERROR=ON \
    "${CudaOptions[@]}" "$@" >/dev/null
}
