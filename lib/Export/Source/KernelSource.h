/// \file
/// Finds the kernels in a source: every declaration and definition with `__global__`, with its
/// attributes and the place where one can be inserted.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace carve {

/// `__launch_bounds__(...)` or `__maxnreg__(...)` as it is written.
struct KernelAttribute {
  size_t Begin = 0, End = 0; ///< Offsets from the start of the word to the end of the parenthesis.
  bool IsLaunchBounds = false;
  std::vector<std::string> Arguments; ///< As written, without blanks around them.
};

/// One parameter of a template.
struct TemplateParameter {
  std::string Name; ///< Empty if the parameter has no name.
  bool IsType = false;
  bool IsPack = false;
};

/// One declaration or definition of a kernel.
struct KernelPlace {
  /// Namespaces and classes from the outermost to the innermost, then the kernel's own name with
  /// the qualifiers in its declarator. An unnamed namespace is `(anonymous namespace)`.
  std::vector<std::string> Name;
  std::vector<std::string> Parameters; ///< The text of each, as tokens with one blank between them.
  /// Parameters of the innermost template; empty if there is none.
  std::vector<TemplateParameter> Template;
  std::string Specialisation; ///< Text inside the `<...>` after the name.
  bool IsTemplate = false;
  bool IsDefinition = false;
  /// The head contains preprocessor branches, so no place in it is safe to edit.
  bool Split = false;
  /// Offset of the name with its qualifiers, before which an attribute may be written.
  size_t InsertAt = 0;
  std::vector<KernelAttribute> Attributes;
  std::string File;  ///< As in a line marker; empty for the text itself.
  unsigned Line = 0; ///< Line of the name in File.
};

/// Returns the kernels of \p Text in order. \p Text is a source or preprocessed text, whose line
/// markers are followed. Kernels that macros would make are not found in a source. All branches of
/// the preprocessor are read.
std::vector<KernelPlace> findKernels(llvm::StringRef Text);

} // namespace carve
