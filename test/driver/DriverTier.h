/// \file
/// A directory in which the built programs run against a script in place of nvcc.
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
  int Status = -1; ///< The exit status; -1 if a signal ended the program.
  int Signal = 0;
  std::string Stdout, Stderr;
};

class DriverTierTest : public testing::Test {
protected:
  using Words = std::vector<std::string>;

  DriverTierTest();

  /// Runs \p Argv in the work directory with no other environment than Env.
  Ended run(const Words &Argv);
  Ended carveNvcc(Words Arguments);
  Ended carve(Words Arguments);
  /// Checks that carve fails for \p Arguments with status 1, nothing on stdout, and \p Message.
  void expectError(const Words &Arguments, const std::string &Message);
  /// Starts \p Argv and returns at once. wait() tells how it ended.
  pid_t start(const Words &Argv);
  Ended wait(pid_t Pid);

  std::string path(const std::string &Name) const { return Dir.path() + "/" + Name; }
  bool exists(const std::string &Name) const { return std::filesystem::exists(path(Name)); }
  /// Waits until the file exists.
  void await(const std::string &Name) const;
  void write(const std::string &Name, const std::string &Text) const;
  std::string read(const std::string &Name) const;
  /// Returns the names in a directory.
  Words names(const std::string &Name) const;

  /// Returns the arguments of nvcc's last call of kind \p Kind.
  Words argumentsOf(const std::string &Kind) const;
  /// Returns how often nvcc was called with kind \p Kind.
  size_t calls(const std::string &Kind) const;
  /// Makes `--dryrun` print the recorded plan \p Name.
  void plan(const std::string &Name) const;
  /// Returns `passthroughs` of `carve store stats --format=json` on one line.
  std::string passthroughs();
  /// Returns the count \p Name of `carve store stats --format=json`.
  int stored(const std::string &Name);

  /// Runs in the child process before each program. If it returns false, the process ends with
  /// status 126.
  std::function<bool()> Before = [] { return true; };

  TempDir Dir;
  std::map<std::string, std::string> Env;
  /// The command for a compile of one source to an object.
  const Words Compile = {"-O3", "-c", "src/saxpy.cu", "-o", "obj/saxpy.o"};
};

} // namespace carve
