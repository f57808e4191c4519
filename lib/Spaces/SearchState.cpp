#include "Spaces/SearchState.h"

#include "Spaces/SearchRuns.h"

#include "llvm/ADT/StringExtras.h"

using namespace carve;

SearchState::SearchState(const SearchRequest &Request, const Toolchain &T, CommandRunner &Runner)
    : Request(Request), T(T), Runner(Runner), Check([this](const probe::TimeStretch &Stretch) {
        llvm::Expected<RunRecord> Run = runProgram(*this, *Record.Reference, Stretch);
        if (Run)
          Run->Output = comparable(this->Request, std::move(Run->Output));
        return Run;
      }) {
  if (!recorded())
    Gpus.emplace(Request.Gpus, llvm::join(Request.Command, " "), *Request.Progress);
}
