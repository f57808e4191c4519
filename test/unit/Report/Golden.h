/// \file
/// Compares texts with the files of test/golden.
#pragma once

#include "Support/Files.h"

#include "llvm/Support/Process.h"
#include "gtest/gtest.h"

namespace carve {

/// Compares \p Text with the file \p Name in test/golden. With CARVE_UPDATE_GOLDEN=1, it rewrites
/// the file instead.
inline void expectGolden(const std::string &Text, const std::string &Name) {
  std::string Path = CARVE_SOURCE_DIR "/test/golden/" + Name;
  if (llvm::sys::Process::GetEnv("CARVE_UPDATE_GOLDEN") == "1") {
    EXPECT_EQ(llvm::toString(writeFileAtomically(Path, Text)), "");
  }
  llvm::Expected<std::string> Golden = readFile(Path);
  ASSERT_TRUE(bool(Golden)) << llvm::toString(Golden.takeError());
  EXPECT_EQ(Text, *Golden);
}

} // namespace carve
