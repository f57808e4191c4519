/// \file
/// Runs the test program under the probe and returns the records that it left.
#pragma once

#include "Support/CommandRunner.h"
#include "Support/Files.h"

#include <string>
#include <vector>

namespace carve::probe::test {

using Fields = std::vector<std::string>;

/// The lines of one `.probe` file.
struct Records {
  std::vector<Fields> Lines;

  /// Returns the lines of \p Kind, without that word.
  std::vector<Fields> of(const std::string &Kind) const;
  bool whole() const { return !Lines.empty() && Lines.back() == Fields{"end"}; }
  /// Returns the launches of the kernel \p Name, summed over all its lines.
  uint64_t launches(const std::string &Name) const;
};

/// A run of a program with the probe injected, in a directory of its own.
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
  /// The files that the program left, ordered by name.
  std::vector<Records> files() const;
  std::vector<std::string> paths() const; ///< The paths of these files.
  /// Returns how many of the files are complete by now.
  size_t wholeFiles() const;
  /// Returns the only file. Fails the test if there is none or more than one.
  Records onlyFile() const;

private:
  TempDir Dir;
  std::vector<std::string> Environment;
};

} // namespace carve::probe::test
