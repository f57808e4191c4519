#include "Nvcc/EmbeddedPtx.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace carve;

std::vector<PlannedPtx> carve::embeddedPtx(const DeviceUnit &U) {
  std::vector<PlannedPtx> All;
  for (llvm::StringRef Argument : U.FatbinaryArguments) {
    if (!Argument.consume_front("--image3=") || !Argument.contains("kind=ptx"))
      continue;
    PlannedPtx P;
    llvm::SmallVector<llvm::StringRef, 4> Fields;
    Argument.split(Fields, ',');
    for (llvm::StringRef Field : Fields) {
      if (Field.consume_front("sm=") && !Field.empty())
        P.Compute = llvm::isDigit(Field.back()) ? architectureNumber(Field) : 0;
      else if (Field.consume_front("file="))
        P.Path = Field.str();
    }
    if (P.Compute && !P.Path.empty())
      All.push_back(std::move(P));
  }
  return All;
}

std::vector<std::string> carve::sharedPtxasOptions(const DeviceUnit &U) {
  if (!U.Images.empty())
    return U.Images.front().PtxasOptions;
  std::vector<std::string> Options = {"-m64"};
  if (llvm::is_contained(U.FatbinaryArguments, "--device-c")) // -rdc=true
    Options.push_back("--compile-only");
  return Options;
}

std::vector<std::string> carve::withArchitecture(llvm::ArrayRef<std::string> Options,
                                                 llvm::StringRef Arch) {
  std::vector<std::string> Result = {"-arch=" + Arch.str()};
  for (size_t I = 0; I < Options.size(); ++I) {
    llvm::StringRef Option = Options[I];
    if (Option == "-arch" || Option == "--gpu-name")
      ++I; // The value is skipped, too.
    else if (!Option.starts_with("-arch=") && !Option.starts_with("--gpu-name="))
      Result.push_back(Options[I]);
  }
  return Result;
}

unsigned carve::architectureNumber(llvm::StringRef Arch) {
  unsigned Number = 0;
  Arch.consume_front("sm_") || Arch.consume_front("compute_");
  if (Arch.take_while(llvm::isDigit).getAsInteger(10, Number))
    return 0;
  return Number;
}
