/// \file
/// Reads and prints the lines of a timing run (Protocol/TimingRecords.h). ProbeRecords uses it to
/// read the probe's files, and SampleRecord, because the samples file keeps the same lines.
#pragma once

#include "Protocol/RecordReader.h"
#include "Workload/InRunRecord.h"

#include "llvm/Support/Error.h"

namespace carve {

/// Adds the record in \p In to \p Record. Returns false if a timing run has no such record. A
/// damaged record adds nothing, and In.bad() tells why.
bool takeInRunLine(RecordReader &In, InRunRecord &Record);

/// Checks line \p Number of the file \p Name, which \p In has read. Fails if the record is not
/// \p Known, or if one of its fields is not as expected.
llvm::Error checkLine(const RecordReader &In, bool Known, llvm::StringRef Name, unsigned Number);

/// Prints the records as lines. Each line ends with a newline.
std::string printInRun(const InRunRecord &Record);

/// Reads lines as printInRun() prints them. An error names \p Name, the line, and what was expected
/// there.
llvm::Expected<InRunRecord> readInRun(llvm::StringRef Text, llvm::StringRef Name);

} // namespace carve
