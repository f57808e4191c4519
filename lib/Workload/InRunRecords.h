/// \file
/// Reads and prints the lines of a timing run (Protocol/Protocol.h): replayed, verified, timed,
/// rotated, stood-back, fault. Part of the reading of ProbeRecords; the samples file keeps the same
/// lines.
#pragma once

#include "Workload/InRunRecord.h"

#include "llvm/Support/Error.h"

namespace carve {

class ProbeFields;

/// Adds the record that \p F holds to \p Record. False where its tag is none of a timing run's; a
/// damaged one is told by F.bad() and adds nothing.
bool takeInRunLine(ProbeFields &F, InRunRecord &Record);

/// The records as lines, each ended by a newline.
std::string printInRun(const InRunRecord &Record);

/// The records of \p Text, lines as printInRun() makes them. Fails naming \p Name, the line, and
/// what was expected there.
llvm::Expected<InRunRecord> readInRun(llvm::StringRef Text, llvm::StringRef Name);

} // namespace carve
