/// \file
/// Finds kernels in the text that cicc reads, which is preprocessed C++, and writes into them what
/// is known of a launch. Only what is understood is changed: a scanner that knows comments,
/// strings, raw strings, attributes and scopes finds the definition, and if several could be meant,
/// or one has a form that it does not know, the text is refused.
#pragma once

#include "Nvcc/KnownLaunch.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// A parameter of a kernel, as its definition has it.
struct KernelParameter {
  std::string Name; ///< Empty if it has none, or if its declarator is not a plain one.
  std::string Type; ///< The words before the name, with single spaces.
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

/// What can be written into the text of a kernel.
struct AssumedLaunch {
  const KernelDefinition *Kernel = nullptr;
  KnownLaunch Launch;
  std::vector<unsigned> Floats; ///< The parameters of the values that are floating-point numbers.
  std::vector<unsigned>
      Aligned; ///< The parameters of the values that are lowest bytes of addresses.
  /// The parameters of the values that are parts of what is neither a number nor an address.
  std::vector<unsigned> Parts;

  /// Whether nothing is known but how addresses are aligned.
  bool onlyAligned() const {
    return Launch.Values.size() == Aligned.size() && !Launch.Block && !Launch.Grid;
  }
};

/// Returns the part of \p Known that withAssumptions() would write into the kernel \p Mangled of a
/// text with the definitions \p Kernels: values of parameters without a name are left out, and so
/// are values of parts of numbers. Of an address that is a multiple of 256, as what cudaMalloc()
/// gives is, the lowest byte is left, which is 0. Of what is neither a number nor an address, such
/// as a structure, any part is left but those of 8 bytes that may be an address. Fails with
/// Unsupported `unknown-text` if the kernel's definition is not found, if several could be meant,
/// and if nothing is left.
llvm::Expected<AssumedLaunch> assumable(llvm::ArrayRef<KernelDefinition> Kernels,
                                        llvm::StringRef Mangled, const KnownLaunch &Known);

/// Returns \p Text with assumptions at the head of the body of the kernel \p Mangled, so that the
/// compiler may rely on \p Known, as far as it is assumable(). A floating-point parameter is set to
/// the bits of its value; only one that is `const` is assumed to be equal to it. Of an address it
/// is assumed that it is a multiple of 256, unless it is restricted. Of a structure it is assumed
/// what its bytes are, for which the names and types of its fields are not needed. No line is
/// added. Fails as kernelDefinitions() and assumable() do.
llvm::Expected<std::string> withAssumptions(llvm::StringRef Text, llvm::StringRef Mangled,
                                            const KnownLaunch &Known);

} // namespace carve
