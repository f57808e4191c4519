/// \file
/// Where kernels stand in a source: every declaration and definition with `__global__`, with the
/// attributes that it has and the place where one can be put.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace carve {

/// `__launch_bounds__(...)` or `__maxnreg__(...)` as it stands there.
struct KernelAttribute {
  size_t Begin = 0, End = 0; ///< Offsets, from the word to behind the parenthesis.
  bool IsLaunchBounds = false;
  std::vector<std::string> Arguments; ///< As spelled, blanks around them removed.
};

struct TemplateParameter {
  std::string Name; ///< Empty where it has none.
  bool IsType = false;
  bool IsPack = false;
};

struct KernelPlace {
  /// Namespaces and classes from outside in, then the kernel's own name, with what the declarator
  /// itself qualifies it by. An unnamed namespace is `(anonymous namespace)`.
  std::vector<std::string> Name;
  std::vector<std::string> Parameters;     ///< Their text, tokens with one blank between them.
  std::vector<TemplateParameter> Template; ///< Of the innermost template; empty: none.
  std::string Specialisation; ///< Text of `<...>` behind the name, without the brackets.
  bool IsTemplate = false;
  bool IsDefinition = false;
  bool Split = false;  ///< The head has branches of the preprocessor in it: no place is safe.
  size_t InsertAt = 0; ///< Offset of the name with its qualifiers: an attribute may stand before.
  std::vector<KernelAttribute> Attributes;
  std::string File;  ///< As a line marker has it; empty: the text itself.
  unsigned Line = 0; ///< Of the name, in File.
};

/// The kernels of \p Text in order: of a source, or of preprocessed text, whose line markers are
/// followed. What macros would make is not found in a source. Of branches of the preprocessor all
/// are read.
std::vector<KernelPlace> findKernels(llvm::StringRef Text);

} // namespace carve
