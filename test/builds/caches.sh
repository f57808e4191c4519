# shellcheck shell=bash
# Sourced by run: compiler caches around carve-nvcc and under it, and other wrappers.

# Compiles twice through LAUNCHER, the second time from its cache, and keeps what it says of that.
buildThrough() { # STATISTICS LAUNCHER...
  local Statistics=$1 Time
  shift
  copySources
  for Time in first second; do
    mkdir "$Time"
    "$@" "$Compiler" -O3 -arch=sm_90 -c scale.cu -o "$Time/scale.o" || return
    "$@" "$Compiler" -O3 -arch=sm_90 -MD -MF "$Time/main.d" -c main.cu -o "$Time/main.o" || return
    "$@" "$Compiler" -O3 -gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=sm_90 \
      -rdc=true -c caller.cu -o "$Time/caller.o" || return
  done
  "$Statistics" >statistics
}

ccacheStatistics() { ccache --show-stats --verbose | grep -E '^ *(Hits|Misses):' | head -n 2; }
emptyCcache() { rm -rf "$CCACHE_DIR" && "$@"; }

sccacheStatistics() { "$Sccache" --show-stats | grep -E '^(Cache hits|Cache misses) .*CUDA' | tr -s ' '; }
emptySccache() {
  rm -rf "$SCCACHE_DIR"
  export SCCACHE_SERVER_PORT=$((20000 + RANDOM % 20000)) SCCACHE_IDLE_TIMEOUT=60
  "$@"
  local Status=$?
  "$Sccache" --stop-server >/dev/null 2>&1
  return "$Status"
}

# PATH begins with a directory in which nvcc and g++ are links to ccache, as Debian's
# /usr/lib/ccache; carve-nvcc has to find the real nvcc behind it.
buildUnderCcache() {
  mkdir links
  local Ccache Name
  Ccache=$(type -P ccache)
  for Name in nvcc g++ gcc; do ln -s "$Ccache" "links/$Name"; done
  copySources
  export PATH=$PWD/links:$(dirname "$Nvcc"):$PATH
  unset CARVE_NVCC
  "$Compiler" --version || return
  "$Compiler" -O3 -arch=sm_90 -c scale.cu -o scale.o || return
  "$Compiler" -O3 -arch=sm_90 -ccbin g++ -Xlinker --build-id=none main.cu scale.o -o app || return
  rm -r links
}

# nvcc_wrapper of Kokkos, which calls nvcc by PATH.
buildWrapper() { # SCRIPT
  mkdir links
  if [[ $Compiler == "$CarveNvcc" ]]; then
    ln -s "$CarveNvcc" links/nvcc
    export PATH=$PWD/links:$PATH
  else
    export PATH=$(dirname "$Nvcc"):$PATH
  fi
  copySources
  export NVCC_WRAPPER_DEFAULT_COMPILER=g++
  "$1" -arch=sm_90 -O3 -Wall -fPIC -std=c++17 -DTEXT='"a,b"' -x cu -MD -MT scale.o -MF scale.d -c scale.cu -o scale.o || return
  cp -p scale.cu device.cpp
  "$1" -arch=sm_90 -O2 -I. -g -lineinfo --expt-extended-lambda -c device.cpp -o device.o || return
  "$1" -arch=sm_90 -Wl,--build-id=none main.cu scale.o -o app || return
  "$1" -arch=sm_90 -shared -Wl,--build-id=none scale.o -o libscale.so || return
  "$1" -arch=sm_90 -no-such-option -c scale.cu -o wrong.o
  rm -r links
}

cacheCells() {
  local Version Sources
  if type -P ccache >/dev/null; then
    Version=$(ccache --version | sed -n '1s/.* //p')
    cell ccache "$Version" - 'around carve-nvcc' emptyCcache buildThrough ccacheStatistics ccache
    cell ccache "$Version" - 'under it: nvcc, g++ in PATH' emptyCcache buildUnderCcache
    if [[ $Mode == all ]]; then
      Cmake=$(toolProgram cmake 4.4.4 cmake) Ninja=$(toolProgram ninja 1.13.2 ninja)
      cell ccache "$Version" 'CMake 4.4.4, Ninja' 'CUDA compiler launcher' emptyCcache buildCmake \
        Ninja '-DFEATURES=static;separable' -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache
    fi
  else
    skipped ccache - - any 'no ccache in PATH'
  fi
  [[ $Mode == all ]] || return 0
  if Sccache=$(toolProgram sccache 0.16.0 sccache); then
    cell sccache 0.16.0 - 'around carve-nvcc' emptySccache buildThrough sccacheStatistics "$Sccache"
  fi
  if [[ -x $Tools/kokkos/nvcc_wrapper ]]; then
    cell Kokkos 4.6.99 - 'nvcc_wrapper' buildWrapper "$Tools/kokkos/nvcc_wrapper"
  else
    skipped Kokkos - - nvcc_wrapper "no $Tools/kokkos/nvcc_wrapper; recorded commands below"
  fi
}
