/// \file
/// Runs the test program under the probe and gives the records that it left.
#pragma once

#include "Support/CommandRunner.h"
#include "Support/Files.h"

#include <string>
#include <vector>

namespace carve::probe::test {

using Fields = std::vector<std::string>;

/// One `.probe` file.
struct Records {
  std::vector<Fields> Lines;

  /// The lines of \p Kind, without it.
  std::vector<Fields> of(const std::string &Kind) const;
  bool whole() const { return !Lines.empty() && Lines.back() == Fields{"end"}; }
  /// Launches of the kernel \p Name over all its lines.
  uint64_t launches(const std::string &Name) const;
};

/// One run of a program with the probe injected, in a directory of its own.
class ProbeRun {
public:
  ProbeRun();

  /// Sets `NAME=value`, or removes `NAME`.
  void setEnvironment(const std::string &Entry) { Environment.push_back(Entry); }
  std::string path(const std::string &Name) const { return Dir.path() + "/" + Name; }
  /// Writes \p Bytes to the file \p Name and returns its path.
  std::string writeFile(const std::string &Name, const std::string &Bytes) const;

  /// Runs \p Program with \p Args.
  CommandResult run(const std::string &Program, const std::vector<std::string> &Args);
  /// The files that it left, ordered by name.
  std::vector<Records> files() const;
  std::vector<std::string> paths() const; ///< Of these files.
  /// How many of them are whole by now.
  size_t wholeFiles() const;
  /// The only file; fails the test where there is none or more than one.
  Records onlyFile() const;

private:
  TempDir Dir;
  std::vector<std::string> Environment;
};

} // namespace carve::probe::test
