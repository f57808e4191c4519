/// \file
/// The error for a file that a newer carve wrote. Such a file is intact and useful to that release,
/// so it is never removed as damaged.
#pragma once

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// The file has a format that this release does not know. The message names the file, the actual
/// and the expected format.
class NewerFormat : public llvm::ErrorInfo<NewerFormat> {
public:
  static inline char ID = 0;
  explicit NewerFormat(const llvm::Twine &Message) : Message(Message.str()) {}
  void log(llvm::raw_ostream &OS) const override { OS << Message; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string Message;
};

} // namespace carve
