#include "Support/Flags.h"

#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace carve;

llvm::Error Flags::wrong(llvm::StringRef Name, llvm::StringRef Value,
                         const llvm::Twine &Expected) const {
  return usageError(Context + ": " + Name + " is '" + Value + "', expected " + Expected);
}

void Flags::flag(llvm::StringRef Name, bool &Out) {
  Options.push_back({Name.str(), false, [&Out](llvm::StringRef) {
                       Out = true;
                       return llvm::Error::success();
                     }});
}

void Flags::text(llvm::StringRef Name, std::string &Out) {
  Options.push_back(
      {Name.str(), true, [this, N = Name.str(), &Out](llvm::StringRef Value) -> llvm::Error {
         if (Value.empty())
           return wrong(N, Value, "a value");
         Out = Value.str();
         return llvm::Error::success();
       }});
}

void Flags::list(llvm::StringRef Name, std::vector<std::string> &Out) {
  Options.push_back(
      {Name.str(), true, [this, N = Name.str(), &Out](llvm::StringRef Value) -> llvm::Error {
         if (Value.empty())
           return wrong(N, Value, "a value");
         Out.push_back(Value.str());
         return llvm::Error::success();
       }});
}

void Flags::number(llvm::StringRef Name, unsigned &Out, unsigned Least, unsigned Most) {
  Options.push_back(
      {Name.str(), true,
       [this, N = Name.str(), &Out, Least, Most](llvm::StringRef Value) -> llvm::Error {
         unsigned Number = 0;
         if (Value.getAsInteger(10, Number) || Number < Least || Number > Most)
           return wrong(N, Value,
                        "a whole number from " + llvm::Twine(Least) + " to " + llvm::Twine(Most));
         Out = Number;
         return llvm::Error::success();
       }});
}

void Flags::seconds(llvm::StringRef Name, double &Out) {
  Options.push_back(
      {Name.str(), true, [this, N = Name.str(), &Out](llvm::StringRef Value) -> llvm::Error {
         double Number = 0;
         if (Value.getAsDouble(Number) || !(Number > 0) || Number > 1e6)
           return wrong(N, Value, "a number of seconds above 0");
         Out = Number;
         return llvm::Error::success();
       }});
}

void Flags::choice(llvm::StringRef Name, llvm::ArrayRef<llvm::StringRef> Words, unsigned &Out) {
  std::vector<std::string> Known;
  for (llvm::StringRef Word : Words)
    Known.push_back(Word.str());
  Options.push_back(
      {Name.str(), true, [this, N = Name.str(), Known, &Out](llvm::StringRef Value) -> llvm::Error {
         auto Found = llvm::find(Known, Value);
         if (Found == Known.end())
           return wrong(N, Value, llvm::join(Known, " or "));
         Out = Found - Known.begin();
         return llvm::Error::success();
       }});
}

const Flags::Option *Flags::find(llvm::StringRef Name) const {
  auto Found = llvm::find_if(Options, [&](const Option &O) { return O.Name == Name; });
  return Found == Options.end() ? nullptr : &*Found;
}

llvm::Expected<bool> Flags::apply(llvm::StringRef Name, const std::string *Value) const {
  const Option *O = find(Name);
  if (!O)
    return false;
  if (O->TakesValue && !Value)
    return usageError(Context + ": " + Name + " needs a value: " + Name +
                      (Name.starts_with("--") ? "=..." : " ..."));
  if (!O->TakesValue && Value)
    return usageError(Context + ": " + Name + " takes no value, not '" + *Value + "'");
  if (llvm::Error E = O->Set(Value ? *Value : ""))
    return E;
  return true;
}

llvm::Error Flags::parse(llvm::ArrayRef<std::string> Args, std::vector<std::string> &Positional,
                         std::vector<std::string> &Rest) const {
  for (size_t I = 0; I < Args.size(); ++I) {
    llvm::StringRef Arg = Args[I];
    if (Arg == "--") {
      Rest.assign(Args.begin() + I + 1, Args.end());
      break;
    }
    if (!Arg.starts_with("-") || Arg == "-") {
      Positional.push_back(Arg.str());
      continue;
    }
    auto [Name, After] = Arg.split('=');
    std::string Value = After.str();
    bool Has = Arg.contains('=');
    const Option *O = find(Name);
    if (O && O->TakesValue && !Has && I + 1 < Args.size() && Args[I + 1] != "--") {
      Value = Args[++I];
      Has = true;
    }
    llvm::Expected<bool> Known = apply(Name, Has ? &Value : nullptr);
    if (!Known)
      return Known.takeError();
    if (!*Known)
      return usageError(Context + ": unknown option '" + Name + "'");
  }
  return llvm::Error::success();
}
