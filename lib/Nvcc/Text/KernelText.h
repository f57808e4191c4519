/// \file
/// Finds kernels in the text that cicc reads, which is preprocessed C++. A scanner that knows
/// attributes and scopes finds the definition of a kernel. If several could be meant, or one has a
/// form that it does not know, the text is refused.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// A parameter of a kernel, as its definition has it.
struct KernelParameter {
  std::string Name;  ///< Empty if it has none, or if its declarator is not a plain one.
  std::string Type;  ///< The words before the name, with single spaces.
  size_t NameAt = 0; ///< Where the name is in the text.
};

/// The definition of a kernel in a text.
struct KernelDefinition {
  std::string Name;                ///< Without scopes and template arguments.
  std::vector<std::string> Scopes; ///< Namespaces and classes; empty names are anonymous ones.
  std::vector<KernelParameter> Parameters;
  size_t Body = 0; ///< The place behind the opening brace of its body.
  /// With any, there is one body for all instantiations.
  unsigned TemplateParameters = 0;
  bool TemplatePack = false; ///< One of these takes any number of arguments.
  /// The body asks for the type of something, by `decltype` or `typeof`. It would see how a
  /// parameter is qualified.
  bool AsksForTypes = false;
};

/// Returns the kernels that \p Text defines, in its order. Fails with Unsupported `unknown-text` if
/// a string, a comment or a bracket does not end.
llvm::Expected<std::vector<KernelDefinition>> kernelDefinitions(llvm::StringRef Text);

/// Returns whether values of a parameter with the type \p Type, as the demangler or a source writes
/// it, are integers or booleans.
bool isIntegerType(llvm::StringRef Type);

/// Returns whether they are `float` or `double`.
bool isFloatType(llvm::StringRef Type);

/// Returns the types of the parameters of the function \p Mangled, as the demangler writes them;
/// none for a function of C, whose name does not have them.
std::vector<std::string> parameterTypes(llvm::StringRef Mangled);

/// The definition of a kernel, and the types of its parameters.
struct TypedKernel {
  const KernelDefinition *Definition;
  std::vector<std::string> Types;
};

/// Finds the definition of the kernel with the mangled name \p Mangled among \p All. Fails with
/// Unsupported `unknown-text` unless exactly one definition fits.
llvm::Expected<TypedKernel> definitionOf(llvm::ArrayRef<KernelDefinition> All,
                                         llvm::StringRef Mangled);

} // namespace carve
