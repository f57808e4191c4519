# shellcheck shell=bash
# Sourced by run: GNU Make, Meson, autotools.

# Libraries of the toolkit, for a link by g++.
cudaLibraries() {
  local Root
  Root=$(dirname "$(dirname "$Nvcc")")
  for Dir in "$Root"/lib64 "$Root"/targets/x86_64-linux/lib "$Root"/lib; do
    if [[ -e $Dir/libcudart_static.a ]]; then
      printf '%s\n' "$Dir"
      return
    fi
  done
}

# With their times, which line information holds.
copySources() { cp -p "$Here"/projects/cmake/src/* "$@" .; }

buildMake() { # MAKEFILE VARIABLE
  copySources "$Here/projects/make/"*
  local Make=(make -j "$Jobs" -f "$1" "$2=$Compiler" CUDA_LIB="$(cudaLibraries)")
  "${Make[@]}" || return
  nullBuild "${Make[@]}"
}

makeCells() {
  local Version
  if ! type -P make >/dev/null; then
    skipped Make - - any 'no make in PATH'
    return
  fi
  Version=$(make --version | sed -n '1s/.* //p')
  cell Make "$Version" - 'NVCC=, -M, -odir, g++ links' buildMake nvcc.mk NVCC
  cell Make "$Version" - 'CC=, -MMD -MP, -dc' buildMake cc.mk CC
}

# Meson, the program, in the current directory. It has no variable for nvcc; a native file names it.
buildMeson() { # MESON...
  mkdir source
  (cd source && copySources "$Here/projects/meson/meson.build")
  export PATH=${NinjaDir:+$NinjaDir:}$PATH
  printf "[binaries]\ncuda = '%s'\n" "$Compiler" >native.ini
  "$@" setup build source --buildtype=release --native-file native.ini || return
  ninja -C build -j "$Jobs" || return
  nullBuild ninja -C build -j "$Jobs" || return
  ninja -C build -t deps >ninja-deps
}

mesonCells() {
  local Version Dir
  if [[ $Mode == quick ]]; then
    if ! type -P meson >/dev/null; then
      skipped Meson - Ninja any 'no meson in PATH'
      return
    fi
    cell Meson "$(meson --version)" Ninja 'static, shared, programs' buildMeson meson
    return
  fi
  NinjaDir=$(dirname "$(toolProgram ninja 1.13.2 ninja)")
  for Version in 1.0.1 1.12.1; do
    Dir=$(pythonTool meson "$Version") || continue
    cell Meson "$Version" Ninja 'static, shared, programs' buildMeson \
      env PYTHONPATH="$Dir" python3 -m mesonbuild.mesonmain
  done
}

buildAutotools() {
  copySources "$Here/projects/autotools/"*
  mkdir m4
  autoreconf --install --force >/dev/null 2>&1 || return
  ./configure --disable-shared NVCC="$Compiler" || return
  make -j "$Jobs" CUDA_LIB="$(cudaLibraries)" || return
  nullBuild make -j "$Jobs" CUDA_LIB="$(cudaLibraries)"
}

autotoolsCells() {
  local Program
  for Program in autoreconf automake libtoolize; do
    if ! type -P "$Program" >/dev/null; then
      skipped autotools - Make any "no $Program in PATH"
      return
    fi
  done
  cell autotools "$(autoconf --version | sed -n '1s/.* //p')" Make 'AC_PATH_PROG, libtool' buildAutotools
}

# An extension of PyTorch by torch.utils.cpp_extension, from an unpacked wheel in $Tools/torch.
buildTorch() {
  export PYTORCH_NVCC=$Compiler CUDA_HOME TORCH_CUDA_ARCH_LIST='9.0;8.0+PTX' TORCH_NO_COMPILER_WRAPPER=1
  CUDA_HOME=$(dirname "$(dirname "$Nvcc")")
  export MAX_JOBS=$Jobs PYTHONDONTWRITEBYTECODE=1 PATH=${NinjaDir:+$NinjaDir:}$PATH
  export PYTHONPATH=$Tools/torch:$Tools/pydeps
  python3 "$Here/projects/torch/build.py" "$Tools/torch/torch" "$PWD/build" || return
  nullBuild ninja -C build || return
  ninja -C build -t deps >ninja-deps
}

# The host code of the object $1, as both compilers should make it. The functions that carve-nvcc
# adds for further entries are left out, and so is the padding between functions. The functions of
# the runtime have their own names again, where the object calls those of carve-nvcc instead.
hostCode() {
  objdump -dr --no-show-raw-insn "$1" |
    sed -E '/file format/d; /\t(nop|data16|cs nop|xchg +%ax,%ax)/d
      s/carve_[0-9a-f]{16}_/__/; s/tmpxft_[0-9a-f]+_[0-9a-f]+_[0-9]+_//g' |
    awk -v Added='<(__cuda(RegisterFunction|GetKernel|LaunchKernel)|load)([.][^>]*)?>:' \
      'BEGIN { RS = ""; ORS = "\n\n" } $0 !~ Added'
}

# The same extension. Its kernel gets two further entries by a profile, one for a value and one for
# small blocks. The profile is set after the first build, as for a team that has just tuned.
buildTorchEntries() {
  local Number Name
  buildTorch || return
  if [[ $Compiler == "$CarveNvcc" ]]; then
    export CARVE_PROFILE=$Here/projects/torch/entries.yaml
    rm build/scale.cuda.o # `carve touch` would touch the sources of this repository.
    ninja -C build >/dev/null && ninja -C build | grep 'no work to do' || return
    for Number in 1 2; do
      Name=_Z5scalePfl__carve_e$Number
      if ! grep -qaF "$Name" build/scaling.so; then
        echo "build/scaling.so lacks $Name"
        return 1
      fi
    done
  else
    ninja -C build
  fi
  hostCode build/scale.cuda.o >host-code
}

torchCells() {
  local Version
  [[ $Mode == all ]] || return 0
  if [[ ! -d $Tools/torch/torch ]]; then
    skipped PyTorch - Ninja cpp_extension "no unpacked torch in $Tools/torch; recorded commands below"
    return
  fi
  Version=$(sed -n "s/^__version__ = '\(.*\)'/\1/p" "$Tools/torch/torch/version.py")
  cell PyTorch "$Version" Ninja 'cpp_extension, PYTORCH_NVCC' buildTorch
  if wanted "PyTorch $Version Ninja cpp_extension, further entries"; then
    # The device code and what contains it are meant to differ.
    runCell buildTorchEntries
    judge PyTorch "$Version" Ninja 'cpp_extension, further entries' \
      '^(status|null-build|host-code|build/(binding.o|build.ninja))$' "$(unitsNote)"
    tidy
  fi
}

otherCells() {
  makeCells
  mesonCells
  autotoolsCells
  torchCells
}
