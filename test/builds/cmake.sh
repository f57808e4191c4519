# shellcheck shell=bash
# Sourced by run: CMake by version, generator and feature.

Project=$Here/projects/cmake

# Installs PACKAGE==VERSION of the Python index below $Tools; prints its directory.
pythonTool() { # PACKAGE VERSION
  local Dir=$Tools/$1-$2/site
  if [[ ! -d $Dir ]]; then
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
      --target "$Dir.new" "$1==$2" >&2 && mv "$Dir.new" "$Dir" || return 1
  fi
  printf '%s\n' "$Dir"
}

# The program NAME of a tool installed so.
toolProgram() { # PACKAGE VERSION NAME
  local Dir Program
  Dir=$(pythonTool "$1" "$2") || return 1
  for Program in "$Dir/$1/data/bin/$3" "$Dir/bin/$3"; do
    if [[ -x $Program ]]; then
      printf '%s\n' "$Program"
      return
    fi
  done
  return 1
}

# Configures, builds and builds again in the current directory; Cmake and Ninja are the programs.
buildCmake() { # GENERATOR [CMAKE-OPTION...]
  local Generator=$1 Extra=() Config Configs=('') List=${Architectures-90}
  shift
  [[ -z $List ]] || Extra+=(-DCMAKE_CUDA_ARCHITECTURES="$List")
  case $Generator in
  Ninja*) Extra+=(-DCMAKE_MAKE_PROGRAM="$Ninja") ;;
  esac
  if [[ $Generator == 'Ninja Multi-Config' ]]; then
    Configs=(Release Debug)
  else
    Extra+=(-DCMAKE_BUILD_TYPE="${BuildType:-Release}")
  fi
  "$Cmake" -G "$Generator" -S "${Source:-$Project}" -B . -DCMAKE_CUDA_COMPILER="${CompilerName:-$Compiler}" \
    "${Extra[@]}" "$@" || return
  for Config in "${Configs[@]}"; do
    "$Cmake" --build . -j "$Jobs" ${Config:+--config "$Config"} || return
    nullBuild "$Cmake" --build . -j "$Jobs" ${Config:+--config "$Config"} || return
  done
  if [[ $Generator == Ninja* ]]; then
    "$Ninja" -t deps >ninja-deps || return
  fi
}

# A row for each feature, and one for the rest: cache, messages, the file of commands.
cmakeFeatures() { # VERSION GENERATOR [CMAKE-OPTION...]
  local Version=$1 Generator=$2 Name=$2 Feature Features
  wanted "CMake $Version $Generator" || return 0
  shift 2
  [[ $Generator != Ninja* ]] || Name="$Generator $("$Ninja" --version | cut -d. -f1-3)"
  Name=${Name/Ninja Multi-Config/Ninja Multi}
  runCell buildCmake "$Generator" "$@"
  Features=$(cd "$Work/$Cell.nvcc" && find . -mindepth 1 -maxdepth 1 -type d -printf '%P\n' | sort)
  for Feature in $Features; do
    # What checks found stands in the cache.
    [[ -d $Project/$Feature && $Feature != checks ]] || continue
    judge CMake "$Version" "$Name" "$Feature" "^$Feature/"
  done
  Known=''
  # It takes the directory above the compiler's for the toolkit, and finds no CUDAToolkit there.
  [[ $Version != 3.18* ]] || Known='the toolkit is looked for beside the compiler; see the view'
  compareRest CMake "$Version" "$Name"
  Known=''
  tidy
}

# What no feature owns.
compareRest() { # TOOL VERSION GENERATOR
  judge "$1" "$2" "$3" 'configure, messages' '^[^/]+$|^CMakeFiles/' "$(unitsNote)"
}

cmakeVersions() {
  if [[ $Mode == quick ]]; then
    Cmake=$(type -P cmake || true) Ninja=$(type -P ninja || true)
    quickCmake
    return
  fi
  local Version Some='-DFEATURES=static;separable;resolve;ptx;options'
  for Version in 4.4.4 3.18.4.post1 3.25.2 3.31.10 3.22.6; do
    Cmake=$(toolProgram cmake "$Version" cmake) || {
      skipped CMake "$Version" any any 'it could not be installed'
      continue
    }
    Ninja=$(toolProgram ninja 1.11.1.4 ninja)
    cmakeFeatures "${Version%.post1}" Ninja
    [[ $Version != 3.18* ]] || cell CMake 3.18.4 'Ninja 1.11.1' 'a view of the toolkit' \
      byView buildCmake Ninja '-DFEATURES=checks;static;separable'
    cmakeFeatures "${Version%.post1}" 'Ninja Multi-Config' "$Some"
    cmakeFeatures "${Version%.post1}" 'Unix Makefiles' "$Some"
    Ninja=$(toolProgram ninja 1.13.2 ninja)
    cmakeFeatures "${Version%.post1}" Ninja "$Some"
  done
}

quickCmake() {
  local Version
  if [[ -z $Cmake || -z $Ninja ]]; then
    skipped CMake - - any 'no cmake or no ninja in PATH'
    return
  fi
  Version=$("$Cmake" --version | sed -n '1s/.* //p')
  # The images of architectures are compared in CallingStylesTest.
  cmakeFeatures "$Version" Ninja "-DFEATURES=checks;shared;separable;ptx;options"
  cmakeFeatures "$Version" 'Unix Makefiles' '-DFEATURES=resolve'
}

# Settings of a whole build, with the newest CMake and Ninja.
cmakeSettings() {
  local Version
  Cmake=$(toolProgram cmake 4.4.4 cmake) Ninja=$(toolProgram ninja 1.13.2 ninja) || return 0
  Version=4.4.4
  local Features='-DFEATURES=static;separable'
  ninjaCell() { cell CMake "$Version" "Ninja 1.13.2" "$@"; }
  BuildType=Debug ninjaCell 'Debug' buildCmake Ninja "$Features"
  BuildType=Debug ninjaCell 'Debug with -G' buildCmake Ninja "$Features" -DCMAKE_CUDA_FLAGS=-G
  BuildType=RelWithDebInfo ninjaCell 'RelWithDebInfo' buildCmake Ninja "$Features"
  Architectures='75;90' ninjaCell 'architectures 75;90' buildCmake Ninja "$Features"
  Architectures=90-real ninjaCell 'architectures 90-real' buildCmake Ninja "$Features"
  Architectures=80-virtual ninjaCell 'architectures 80-virtual' buildCmake Ninja "$Features"
  Architectures=all-major ninjaCell 'architectures all-major' buildCmake Ninja -DFEATURES=static
  Architectures='' ninjaCell 'architectures not given' buildCmake Ninja -DFEATURES=static
  Architectures=native ninjaCell 'native without a GPU' buildCmake Ninja "$Features"
  MayFail=1 Architectures=999 ninjaCell 'no such architecture' buildCmake Ninja "$Features"
  ninjaCell 'unity build of all' buildCmake Ninja -DFEATURES=unity -DCMAKE_UNITY_BUILD=ON
  ninjaCell 'position independent' buildCmake Ninja "$Features" -DCMAKE_POSITION_INDEPENDENT_CODE=ON
  ninjaCell 'host compiler g++-12' buildCmake Ninja "$Features" -DCMAKE_CUDA_HOST_COMPILER=/usr/bin/g++-12
  ninjaCell 'CUDA flags' buildCmake Ninja "$Features" '-DCMAKE_CUDA_FLAGS=-Xptxas -v --use_fast_math -std=c++17'
  # nvlink needs a library for it that the toolkit's Python packages lack.
  MayFail=1 ninjaCell 'device LTO' buildCmake Ninja -DFEATURES=separable -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON
  ninjaCell 'compiler by PATH' byPath buildCmake Ninja "$Features"
  ninjaCell 'a link called nvcc' byLink buildCmake Ninja "$Features"
  ninjaCell 'CUDACXX' byVariable buildCmake Ninja "$Features"
}

# The compiler's name, found in PATH.
byPath() {
  PATH=$(dirname "$Compiler"):$PATH CompilerName=$(basename "$Compiler") "$@"
}

# A symbolic link called nvcc, for carve-nvcc; nvcc itself stands no link elsewhere.
byLink() {
  if [[ $Compiler == "$CarveNvcc" ]]; then
    ln -sf "$CarveNvcc" "$Work/nvcc"
    CompilerName=$Work/nvcc "$@"
    return
  fi
  "$@"
}

# The compiler as nvcc in a directory that has all else of the toolkit by links.
byView() {
  local Root Entry
  if [[ $Compiler != "$CarveNvcc" ]]; then
    "$@"
    return
  fi
  Root=$(dirname "$(dirname "$Nvcc")")
  rm -rf "$Work/view"
  mkdir -p "$Work/view/bin"
  for Entry in "$Root"/* "$Root"/bin/*; do ln -s "$Entry" "$Work/view/${Entry#"$Root"/}" 2>/dev/null; done
  ln -sf "$CarveNvcc" "$Work/view/bin/nvcc"
  CompilerName=$Work/view/bin/nvcc "$@"
}

# Named by the environment variable alone.
byVariable() {
  export CUDACXX=$Compiler
  "$@" -UCMAKE_CUDA_COMPILER
}

# find_package(CUDA), for CMake until 3.26 and beyond under the old policy.
findCudaCells() {
  local Version
  for Version in 3.18.4.post1 3.25.2; do
    Cmake=$(toolProgram cmake "$Version" cmake) || continue
    cell CMake "${Version%.post1}" 'Unix Makefiles' 'FindCUDA' buildFindCuda 'Unix Makefiles'
    cell CMake "${Version%.post1}" "Ninja 1.11.1" 'FindCUDA' buildFindCuda Ninja
  done
}

buildFindCuda() { # GENERATOR
  Ninja=${Ninja:-ninja}
  # Given CUDA_TOOLKIT_ROOT_DIR as well, it would forget the compiler; so the toolkit is found by PATH.
  PATH=$(dirname "$Nvcc"):$PATH
  "$Cmake" -G "$1" -S "$Here/projects/findcuda" -B . -DCMAKE_BUILD_TYPE=Release \
    -DCUDA_NVCC_EXECUTABLE="$Compiler" || return
  # The second build reads the dependencies that the first one wrote.
  "$Cmake" --build . -j "$Jobs" && "$Cmake" --build . -j "$Jobs" || return
  nullBuild "$Cmake" --build . -j "$Jobs"
}

cmakeCells() {
  cmakeVersions
  [[ $Mode == all ]] || return 0
  cmakeSettings
  findCudaCells
}
