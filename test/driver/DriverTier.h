/// \file
/// A directory in which the built programs run against a script in nvcc's place.
#pragma once

#include "Support/Files.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace carve {

/// How a program ended, and what it printed.
struct Ended {
  int Status = -1; ///< Exit status; -1 where a signal ended it.
  int Signal = 0;
  std::string Stdout, Stderr;
};

class DriverTierTest : public testing::Test {
protected:
  using Words = std::vector<std::string>;

  DriverTierTest();

  /// Runs \p Argv in the work directory with the environment Env alone.
  Ended run(const Words &Argv);
  Ended carveNvcc(Words Arguments);
  Ended carve(Words Arguments);
  /// carve fails of \p Arguments with status 1, nothing on stdout and \p Message.
  void expectError(const Words &Arguments, const std::string &Message);
  /// Starts \p Argv and returns at once; wait() tells how it ended.
  pid_t start(const Words &Argv);
  Ended wait(pid_t Pid);

  std::string path(const std::string &Name) const { return Dir.path() + "/" + Name; }
  bool exists(const std::string &Name) const { return std::filesystem::exists(path(Name)); }
  /// Waits until the file is there.
  void await(const std::string &Name) const;
  void write(const std::string &Name, const std::string &Text) const;
  std::string read(const std::string &Name) const;
  /// Names in a directory.
  Words names(const std::string &Name) const;

  /// The arguments of nvcc's last call of \p Kind.
  Words argumentsOf(const std::string &Kind) const;
  /// How often nvcc was called as \p Kind.
  size_t calls(const std::string &Kind) const;
  /// Makes what `--dryrun` prints the recorded \p Name.
  void plan(const std::string &Name) const;
  /// `passthroughs` of `carve store stats --format=json`, on one line.
  std::string passthroughs();
  /// The named count of `carve store stats --format=json`.
  int stored(const std::string &Name);

  /// Runs in the child before each program; where it returns false, that ends with status 126.
  std::function<bool()> Before = [] { return true; };

  TempDir Dir;
  std::map<std::string, std::string> Env;
  /// A compile of one source to an object.
  const Words Compile = {"-O3", "-c", "src/saxpy.cu", "-o", "obj/saxpy.o"};
};

} // namespace carve
