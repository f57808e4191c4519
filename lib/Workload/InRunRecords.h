/// \file
/// Reads and prints the lines of a timing run (Protocol/TimingRecords.h). Part of the reading of
/// ProbeRecords; the samples file keeps the same lines.
#pragma once

#include "Protocol/RecordReader.h"
#include "Workload/InRunRecord.h"

#include "llvm/Support/Error.h"

namespace carve {

/// Adds the record that \p In holds to \p Record. False if it is none of a timing run's; a damaged
/// one is told by In.bad() and adds nothing.
bool takeInRunLine(RecordReader &In, InRunRecord &Record);

/// What is wrong with line \p Number of \p Name, which \p In has read: the record is not \p Known,
/// or one of its fields is not what is expected.
llvm::Error checkLine(const RecordReader &In, bool Known, llvm::StringRef Name, unsigned Number);

/// The records as lines, each ended by a newline.
std::string printInRun(const InRunRecord &Record);

/// The records of \p Text, lines as printInRun() makes them. Fails naming \p Name, the line, and
/// what was expected there.
llvm::Expected<InRunRecord> readInRun(llvm::StringRef Text, llvm::StringRef Name);

} // namespace carve
