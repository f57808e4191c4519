/// \file
/// Reads the nodes of a YAML file that people edit, and makes the messages about their mistakes. It
/// knows no keys: a reader of one kind of file gives it those, such as ProfileReader.
///
/// Uses LLVM's YAML parser instead of its YAML I/O. Because people edit the file, each mistake
/// needs one message that names line, actual and expected value. YAML I/O gives several messages
/// for some mistakes and none for others (a key given twice, a number out of range).
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/SMLoc.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"

#include <functional>
#include <optional>
#include <string>

namespace carve {

/// Reads one file. A reader of a file of one kind derives from it. Every function that returns an
/// error fails with the file's name, the line, and the actual and expected value; if the text is
/// not YAML, with the first syntax error instead.
class YamlReader {
protected:
  /// One key of a mapping, and the function that reads its value.
  struct Member {
    llvm::StringLiteral Key;
    std::function<llvm::Error(llvm::yaml::Node &)> Read;
    bool Required = false;
  };

  /// Messages call the text \p Name. A syntax error says that \p Whole was expected. The texts must
  /// live as long as the reader.
  YamlReader(llvm::StringRef Text, llvm::StringRef Name, llvm::StringRef Whole);
  YamlReader(const YamlReader &) = delete;
  YamlReader &operator=(const YamlReader &) = delete;

  /// Returns the line of the key or list item that is being read; 1 before the first.
  unsigned line() const;
  /// Returns how a message about that line begins, such as "profile.yaml:3: ".
  std::string at() const;
  llvm::Error fail(const llvm::Twine &Message);
  /// Fails because the value of the current key is \p Actual.
  llvm::Error mismatch(llvm::yaml::Node &Actual, const llvm::Twine &Expected);

  /// Reads the only document of the text with \p Read. If the text has no content, \p Expected is
  /// what the message says was expected.
  llvm::Error readDocument(llvm::function_ref<llvm::Error(llvm::yaml::Node &)> Read,
                           const llvm::Twine &Expected);
  /// Reads a mapping that has only \p Members. Messages call it \p What.
  llvm::Error readMapping(llvm::yaml::Node &N, llvm::StringRef What,
                          llvm::ArrayRef<Member> Members);
  /// Reads each item of a list with \p Read. A key without a value is an empty list.
  llvm::Error readList(llvm::yaml::Node &N,
                       llvm::function_ref<llvm::Error(llvm::yaml::Node &)> Read);
  llvm::Error readText(llvm::yaml::Node &N, std::string &Out, bool MayBeEmpty = false);
  /// Reads a whole number that is not quoted and in \p Min..\p Max.
  llvm::Error readNumber(llvm::yaml::Node &N, unsigned &Out, unsigned Min, unsigned Max);
  /// Reads a finite number from 0 on.
  llvm::Error readRatio(llvm::yaml::Node &N, double &Out);
  /// Reads a knob that has only one value besides the default.
  llvm::Error readOnly(llvm::yaml::Node &N, llvm::StringRef Expected);
  /// Reads a knob whose values have names. \p Named finds a value, and \p Expected lists the names.
  template <class Value>
  llvm::Error readNamed(llvm::yaml::Node &N, Value &Out,
                        std::optional<Value> (*Named)(llvm::StringRef), llvm::StringRef Expected) {
    auto *Scalar = llvm::dyn_cast<llvm::yaml::ScalarNode>(&N);
    std::optional<Value> Found = Scalar ? Named(Scalar->getRawValue()) : std::nullopt;
    if (!Found)
      return mismatch(N, Expected);
    Out = *Found;
    return llvm::Error::success();
  }

private:
  void noteSyntax(const llvm::SMDiagnostic &D);

  llvm::StringRef Name, Whole;
  llvm::SourceMgr Sources;
  llvm::yaml::Stream Stream;
  std::string Syntax;  ///< The first syntax error; later ones are its consequences.
  llvm::SMLoc Here;    ///< The place of the key or list item that is being read.
  llvm::StringRef Key; ///< The name of that key.
};

} // namespace carve
