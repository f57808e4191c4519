#include "Nvcc/KnownReads.h"

#include "Nvcc/ArgumentList.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cstring>

using namespace llvm;

namespace carve {

/// Options with a value, joined or in the next word. The value is a folder, a name whose lookup the
/// preprocessed text shows, or not a file at all.
static constexpr StringLiteral WithValue[] = {"-D",         "-I",       "-L",      "-U",
                                              "-idirafter", "-include", "-iquote", "-isystem",
                                              "-l",         "-o",       "-x",      "--param"};

/// Words that must match completely.
static constexpr StringLiteral Whole[] = {"-C",
                                          "-E",
                                          "-P",
                                          "-ansi",
                                          "-c",
                                          "-m32",
                                          "-m64",
                                          "-no-pie",
                                          "-nostdinc",
                                          "-nostdinc++",
                                          "-pedantic",
                                          "-pedantic-errors",
                                          "-pg",
                                          "-pie",
                                          "-pipe",
                                          "-pthread",
                                          "-rdynamic",
                                          "-s",
                                          "-shared",
                                          "-static",
                                          "-static-libgcc",
                                          "-static-libstdc++",
                                          "-w"};

/// Prefixes of known words. A level, a standard or a language name follows.
static constexpr StringLiteral Begins[] = {"-O",     "-Wl,",    "-std=",     "-march=",
                                           "-mcpu=", "-mtune=", "-stdlib=",  "-mavx",
                                           "-msse",  "-mabi=",  "-mcmodel=", "-mfpmath="};

/// The words that may follow `-f` or `-fno-`, up to a `=`.
static constexpr StringLiteral Features[] = {
    "PIC",
    "PIE",
    "abi-version",
    "access-control",
    "aligned-new",
    "asynchronous-unwind-tables",
    "builtin",
    "cf-protection",
    "char8_t",
    "color-diagnostics",
    "common",
    "concepts",
    "constexpr-depth",
    "constexpr-loop-limit",
    "constexpr-ops-limit",
    "cx-fortran-rules",
    "cx-limited-range",
    "data-sections",
    "debug-prefix-map",
    "delete-null-pointer-checks",
    "diagnostics-color",
    "diagnostics-show-option",
    "elide-constructors",
    "enforce-eh-specs",
    "exceptions",
    "excess-precision",
    "fast-math",
    "fat-lto-objects",
    "file-prefix-map",
    "finite-math-only",
    "float-store",
    "fp-contract",
    "function-sections",
    "gnu-unique",
    "inline",
    "inline-functions",
    "inline-limit",
    "lto",
    "macro-prefix-map",
    "math-errno",
    "max-errors",
    "merge-constants",
    "message-length",
    "ms-extensions",
    "nonansi-builtins",
    "omit-frame-pointer",
    "openmp",
    "openmp-simd",
    "optimize-sibling-calls",
    "permissive",
    "pic",
    "pie",
    "plt",
    "reciprocal-math",
    "rounding-math",
    "rtti",
    "sanitize",
    "semantic-interposition",
    "short-enums",
    "signaling-nans",
    "signed-char",
    "signed-zeros",
    "sized-deallocation",
    "stack-check",
    "stack-clash-protection",
    "stack-protector",
    "stack-protector-all",
    "stack-protector-strong",
    "strict-aliasing",
    "strict-overflow",
    "template-backtrace-limit",
    "template-depth",
    "threadsafe-statics",
    "tls-model",
    "trapping-math",
    "tree-vectorize",
    "trapv",
    "unroll-all-loops",
    "unroll-loops",
    "unsafe-math-optimizations",
    "unsigned-char",
    "unwind-tables",
    "use-cxa-atexit",
    "vect-cost-model",
    "visibility",
    "visibility-inlines-hidden",
    "visibility-ms-compat",
    "wrapv",
};

static bool isKnownFeature(StringRef Word) {
  if (!Word.consume_front("-f"))
    return false;
  Word.consume_front("no-");
  return is_contained(Features, Word.split('=').first);
}

/// Returns true for `-g`, `-g3`, `-ggdb`, `-gdwarf-4`. `-gsplit-dwarf` is excluded because it makes
/// a second file.
static bool isDebugLevel(StringRef Word) {
  if (!Word.consume_front("-g"))
    return false;
  return Word.empty() || all_of(Word, isDigit) || Word.starts_with("gdb") ||
         Word.starts_with("dwarf") || Word == "line-tables-only" || Word.starts_with("z");
}

/// Returns true for `-Wall`, `-Wno-x`, `-Werror=x`. Words with a comma are for the tools that the
/// compiler calls.
static bool isWarning(StringRef Word) { return Word.starts_with("-W") && !Word.contains(','); }

static bool isKnown(StringRef Word) {
  return is_contained(Whole, Word) || isKnownFeature(Word) || isDebugLevel(Word) ||
         isWarning(Word) ||
         any_of(Begins, [&](StringRef Prefix) { return Word.starts_with(Prefix); });
}

std::string unknownHostRead(ArrayRef<std::string> HostCommand) {
  for (size_t I = 1; I < HostCommand.size(); ++I) {
    StringRef Word = HostCommand[I];
    if (Word.ends_with("=native") || Word.starts_with("@") || Word.starts_with("-include-"))
      return Word.str();
    if (!Word.starts_with("-"))
      continue; // This is the source.
    const auto *Option = find_if(WithValue, [&](StringRef Name) { return Word.starts_with(Name); });
    if (is_contained(WithValue, Word))
      ++I; // The next word is its value.
    else if (Option == std::end(WithValue) && !isKnown(Word))
      return Word.str();
  }
  return "";
}

/// Returns true if \p Value, for the tool of the option \p A, affects only messages or size.
static bool isHarmless(const Argument &A, StringRef Value) {
  Value.consume_front("-");
  if (A.Option->Short == "-Xcudafe")
    return Value.starts_with("-diag_") || Value == "-display_error_number" ||
           Value == "-no_warnings" || Value == "-promote_warnings";
  return A.Option->Short == "-Xfatbin" && Value.ltrim('-').starts_with("compress");
}

std::string unknownNvccRead(ArrayRef<std::string> Words) {
  for (const Argument &A : splitArguments(Words)) {
    if (A.is(Effect::Target) && StringRef(A.Value).contains("native"))
      return join(A.Words, " ");
    if (!A.is(Effect::Opaque))
      continue;
    for (const std::string &Value : splitList(A.Value))
      if (!isHarmless(A, Value))
        return join(A.Words, " ");
  }
  return "";
}

namespace {

/// Reads the text of one `asm` statement.
class AssemblyText {
public:
  explicit AssemblyText(StringRef Rest) : Rest(Rest) {}
  /// Sets \p Text to the joined content of its string literals, in lower case. Returns false if
  /// they are cut off or written in a way that hides their content.
  bool read(std::string &Text);

private:
  bool literal(std::string &Text);
  bool rawLiteral(std::string &Text);
  StringRef Rest;
};

} // namespace

bool AssemblyText::literal(std::string &Text) {
  while (!Rest.empty() && Rest[0] != '"') {
    if (Rest[0] == '\\') {
      // An escape gives a character by its number.
      if (Rest.size() < 2 || isDigit(Rest[1]) || StringRef("xuUN").contains(Rest[1]))
        return false;
      Rest = Rest.drop_front();
    }
    Text += toLower(Rest[0]);
    Rest = Rest.drop_front();
  }
  return Rest.consume_front("\"");
}

/// Reads `x(text)x"`, the rest of a literal that began with `R"`.
bool AssemblyText::rawLiteral(std::string &Text) {
  auto [Mark, After] = Rest.split('(');
  size_t Length = After.find((")" + Mark + "\"").str());
  if (Mark.size() > 16 || Length == StringRef::npos)
    return false;
  Text += After.take_front(Length).lower();
  Rest = After.drop_front(Length + Mark.size() + 2);
  return true;
}

bool AssemblyText::read(std::string &Text) {
  unsigned Depth = 0;
  while (!Rest.empty()) {
    char C = Rest[0], Before = Rest.data()[-1];
    Rest = Rest.drop_front();
    if (C == '\n' && Rest.starts_with("#")) {
      Rest = Rest.drop_until([](char End) { return End == '\n'; });
      continue; // This is a line marker.
    }
    if (Depth == 0 && C != '(' && !isSpace(C) && !isAlpha(C) && C != '_')
      return true; // This is not a statement but a name that contains asm.
    if (C == '(')
      ++Depth;
    else if (C == ')' && --Depth == 0)
      return true;
    else if (C == '"' && !(Before == 'R' ? rawLiteral(Text) : literal(Text)))
      return false;
  }
  return Depth == 0;
}

bool mayIncludeInAssembly(StringRef Preprocessed) {
  // Macros of the assembler could build a directive from parts.
  static constexpr StringLiteral Directives[] = {".incbin", ".include", ".macro", ".irp",
                                                 ".altmacro"};
  StringRef Rest = Preprocessed;
  while (const void *At = ::memmem(Rest.data(), Rest.size(), "asm", 3)) {
    Rest = Rest.drop_front(static_cast<const char *>(At) - Rest.data() + 3);
    std::string Text;
    if (!AssemblyText(Rest).read(Text) ||
        any_of(Directives, [&](StringRef D) { return StringRef(Text).contains(D); }))
      return true;
  }
  return false;
}

} // namespace carve
