/// \file
/// The failure to read what a newer carve wrote: whole, of use to that one, and so never removed
/// as damaged.
#pragma once

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

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
