#include "Support/Flags.h"

#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;

void Flags::form(llvm::StringRef Words, llvm::StringRef Help) {
  Text.Forms.push_back({Words.str(), Help.str()});
}

OptionText &Flags::add(OptionText Option, Setter Set) {
  Setters.push_back(std::move(Set));
  Text.Options.push_back(std::move(Option));
  return Text.Options.back();
}

OptionText &Flags::flag(llvm::StringRef Name, bool &Out, llvm::StringRef Help) {
  return add({Name.str(), "", Help.str()}, [&Out](llvm::StringRef) {
    Out = true;
    return std::string();
  });
}

OptionText &Flags::text(llvm::StringRef Name, llvm::StringRef Value, std::string &Out,
                        llvm::StringRef Help) {
  OptionText &O = value(
      Name, Value,
      [&Out](llvm::StringRef Given) -> std::string {
        if (Given.empty())
          return "a value";
        Out = Given.str();
        return "";
      },
      Help);
  O.Default = Out;
  return O;
}

OptionText &Flags::list(llvm::StringRef Name, llvm::StringRef Value, std::vector<std::string> &Out,
                        llvm::StringRef Help) {
  OptionText &O = value(
      Name, Value,
      [&Out](llvm::StringRef Given) -> std::string {
        if (Given.empty())
          return "a value";
        Out.push_back(Given.str());
        return "";
      },
      Help);
  O.Repeatable = true;
  return O;
}

OptionText &Flags::number(llvm::StringRef Name, llvm::StringRef Value, unsigned &Out,
                          unsigned Least, unsigned Most, llvm::StringRef Help) {
  OptionText &O = value(
      Name, Value,
      [&Out, Least, Most](llvm::StringRef Given) -> std::string {
        unsigned Number = 0;
        if (Given.getAsInteger(10, Number) || Number < Least || Number > Most)
          return "a whole number from " + llvm::utostr(Least) + " to " + llvm::utostr(Most);
        Out = Number;
        return "";
      },
      Help);
  if (Out >= Least && Out <= Most)
    O.Default = llvm::utostr(Out);
  return O;
}

OptionText &Flags::seconds(llvm::StringRef Name, llvm::StringRef Value, double &Out,
                           llvm::StringRef Help) {
  OptionText &O = value(
      Name, Value,
      [&Out](llvm::StringRef Given) -> std::string {
        double Number = 0;
        if (Given.getAsDouble(Number) || !(Number > 0) || Number > 1e6)
          return "a number of seconds above 0";
        Out = Number;
        return "";
      },
      Help);
  if (Out > 0)
    llvm::raw_string_ostream(O.Default) << llvm::format("%g", Out);
  return O;
}

OptionText &Flags::choice(llvm::StringRef Name, llvm::ArrayRef<llvm::StringRef> Words,
                          size_t Default, std::function<void(size_t)> Choose,
                          llvm::StringRef Help) {
  std::vector<std::string> Known;
  for (llvm::StringRef Word : Words)
    Known.push_back(Word.str());
  OptionText &O = value(
      Name, llvm::join(Known, "|"),
      [Known, Choose = std::move(Choose)](llvm::StringRef Given) -> std::string {
        auto Found = llvm::find(Known, Given);
        if (Found == Known.end())
          return llvm::join(Known, " or ");
        Choose(Found - Known.begin());
        return "";
      },
      Help);
  if (Default < Known.size())
    O.Default = Known[Default];
  return O;
}

OptionText &Flags::value(llvm::StringRef Name, llvm::StringRef Value, Setter Set,
                         llvm::StringRef Help) {
  return add({Name.str(), Value.str(), Help.str()}, std::move(Set));
}

void Flags::arguments(llvm::StringRef Value, std::vector<std::string> &Out, llvm::StringRef Help) {
  Arguments = &Out;
  if (!Value.empty())
    Text.Arguments.push_back({"", Value.str(), Help.str()});
}

void Flags::behind(llvm::StringRef Value, std::vector<std::string> &Out, llvm::StringRef Help) {
  Behind = &Out;
  if (!Value.empty())
    Text.Arguments.push_back({"", Value.str(), Help.str()});
}

std::optional<size_t> Flags::find(llvm::StringRef Name) const {
  auto Found = llvm::find_if(Text.Options, [&](const OptionText &O) { return O.Name == Name; });
  if (Found == Text.Options.end())
    return std::nullopt;
  return Found - Text.Options.begin();
}

llvm::Error Flags::set(size_t Option, llvm::StringRef From, llvm::StringRef Value) const {
  std::string Expected = Setters[Option](Value);
  if (Expected.empty())
    return llvm::Error::success();
  return usageError(Text.Command + ": " + From + " is '" + Value + "', expected " + Expected);
}

llvm::Expected<bool> Flags::apply(llvm::StringRef Name, const std::string *Value) const {
  std::optional<size_t> Found = find(Name);
  if (!Found)
    return false;
  const OptionText &O = Text.Options[*Found];
  if (!O.Value.empty() && !Value && O.IfAbsent.empty())
    return usageError(Text.Command + ": " + Name + " needs a value: " + Name +
                      (Name.starts_with("--") ? "=..." : " ..."));
  if (O.Value.empty() && Value)
    return usageError(Text.Command + ": " + Name + " takes no value, not '" + *Value + "'");
  if (llvm::Error E = set(*Found, Name, Value ? *Value : O.IfAbsent))
    return E;
  return true;
}

llvm::Error
Flags::applyVariables(llvm::function_ref<std::optional<std::string>(llvm::StringRef)> Env) const {
  for (size_t I = 0; I < Text.Options.size(); ++I) {
    const std::string &Variable = Text.Options[I].Variable;
    std::optional<std::string> Value = Variable.empty() ? std::nullopt : Env(Variable);
    if (!Value || Value->empty())
      continue;
    if (llvm::Error E = set(I, Variable, *Value))
      return E;
  }
  return llvm::Error::success();
}

llvm::Error Flags::asksForHelp(llvm::ArrayRef<std::string> Args) const {
  for (llvm::StringRef Arg : Args) {
    if (Arg == "--")
      break;
    if (Arg == "--help" || Arg == "-h" || Arg == "--help=words")
      return llvm::make_error<HelpAsked>(Text, Arg == "--help=words");
  }
  return llvm::Error::success();
}

llvm::Error Flags::parse(llvm::ArrayRef<std::string> Args, Variables Env) const {
  if (llvm::Error E = asksForHelp(Args))
    return E;
  if (Env)
    if (llvm::Error E = applyVariables(Env))
      return E;
  std::vector<std::string> Words;
  for (size_t I = 0; I < Args.size(); ++I) {
    llvm::StringRef Arg = Args[I];
    if (Arg == "--") {
      std::vector<std::string> &Rest = Behind ? *Behind : Words;
      Rest.insert(Rest.end(), Args.begin() + I + 1, Args.end());
      break;
    }
    if (!Arg.starts_with("-") || Arg == "-") {
      Words.push_back(Arg.str());
      continue;
    }
    auto [Name, After] = Arg.split('=');
    std::string Value = After.str();
    bool Has = Arg.contains('=');
    std::optional<size_t> Found = find(Name);
    if (Found && !Text.Options[*Found].Value.empty() && !Has && I + 1 < Args.size() &&
        Args[I + 1] != "--") {
      Value = Args[++I];
      Has = true;
    }
    llvm::Expected<bool> Known = apply(Name, Has ? &Value : nullptr);
    if (!Known)
      return Known.takeError();
    if (!*Known)
      return usageError(Text.Command + ": unknown option '" + Name + "'; " + Text.Command +
                        " --help lists them");
  }
  if (!Words.empty() && !Arguments)
    return usageError(Text.Command + ": unexpected '" + Words.front() + "', expected only options");
  if (Arguments)
    Arguments->insert(Arguments->end(), Words.begin(), Words.end());
  return llvm::Error::success();
}

std::vector<std::string> Flags::given(llvm::ArrayRef<std::string> Args, Variables Env) const {
  std::vector<std::string> Words;
  for (const OptionText &O : Text.Options)
    if (!O.Variable.empty())
      if (std::optional<std::string> Value = Env(O.Variable); Value && !Value->empty())
        Words.push_back(O.Name + "=" + *Value);
  for (size_t I = 0; I < Args.size() && Args[I] != "--"; ++I) {
    std::optional<size_t> Found = find(llvm::StringRef(Args[I]).split('=').first);
    if (!Found)
      continue;
    bool Apart = !Text.Options[*Found].Value.empty() &&
                 Args[I].size() == Text.Options[*Found].Name.size() && I + 1 < Args.size();
    Words.push_back(Args[I] + (Apart ? "=" + Args[I + 1] : ""));
    I += Apart;
  }
  return Words;
}
