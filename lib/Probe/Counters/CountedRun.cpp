#include "Probe/Counters/CountedRun.h"

#include "Protocol/CountRecords.h"
#include "Protocol/Protocol.h"

#include <algorithm>

using namespace carve;
using namespace carve::probe;

/// Set while this thread is in a load call of the program that gets an image with counters.
static thread_local bool Replaced = false;
/// Set while this thread is in a call that ends contexts, at whose entry all counters were read.
static thread_local bool Ending = false;

Failure carve::probe::startCountedRun(const char *Names, const DriverApi &Driver, RecordFile &File,
                                      std::unique_ptr<ProbeMode> &Mode) {
  if (!Driver.readsVariables())
    return Failure("driver-incomplete");
  std::vector<std::string> Variables;
  for (std::string_view Rest = Names; !Rest.empty();) {
    size_t Comma = Rest.find(',');
    Variables.emplace_back(Rest.substr(0, Comma));
    Rest = Comma == std::string_view::npos ? std::string_view() : Rest.substr(Comma + 1);
  }
  Mode = std::make_unique<CountedRun>(Driver, File, std::move(Variables));
  return Failure::none();
}

std::set<CUpti_CallbackId> CountedRun::resources() const {
  return {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING};
}

void CountedRun::onImageReplaced() { Replaced = true; }

void CountedRun::onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  bool Entry = Call.callbackSite == CUPTI_API_ENTER;
  if (Finishing)
    return;
  Roles Means = rolesOf(Id);
  if (Means.any(Role::LoadsImage)) {
    // The image is replaced after this point.
    if (Entry)
      Replaced = false;
    else if (std::exchange(Replaced, false))
      loaded(Id, Call);
    return;
  }
  if (Means.any(Role::Unloads) && Call.functionParams)
    onUnload(unloadedBy(Id, Call), Call);
  if (!Means.any(Role::EndsContext))
    return;
  Ending = Entry;
  if (Entry)
    readAll();
}

void CountedRun::onUnload(void *Handle, const CUpti_CallbackData &Call) {
  auto IsIts = [&](const LoadedHandle &O) { return O.Handle == Handle; };
  {
    std::lock_guard<std::mutex> Guard(Lock);
    if (std::none_of(Owners.begin(), Owners.end(), IsIts))
      return;
  }
  if (Call.callbackSite == CUPTI_API_ENTER) {
    readAll();
    return;
  }
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  if (!Result || *Result != CUDA_SUCCESS)
    return;
  settle([&](const Place &Read) { return Read.Handle == Handle; });
  std::lock_guard<std::mutex> Guard(Lock);
  std::erase_if(Owners, IsIts);
}

void CountedRun::loaded(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  LoadedHandle New = loadedBy(Id, Call);
  if (!New.Handle)
    return;
  std::lock_guard<std::mutex> Guard(Lock);
  Owners.insert(New);
}

void CountedRun::onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource) {
  CUcontext Context = Resource.context;
  if (Id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
    std::lock_guard<std::mutex> Guard(Lock);
    Contexts.insert(Context);
  } else if (Id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
    // No driver call may be made here.
    settle([&](const Place &Read) { return Read.Context == Context; });
    std::lock_guard<std::mutex> Guard(Lock);
    if (!Ending && !Owners.empty() && !Finishing)
      lose("a context ended unseen");
    Contexts.erase(Context);
    std::erase_if(Owners, [&](const LoadedHandle &O) { return O.Context == Context; });
  }
}

void CountedRun::readAll() {
  std::set<CUcontext> Known;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Known = Contexts;
  }
  for (CUcontext Context : Known)
    read(Context);
}

void CountedRun::read(CUcontext Context) {
  std::set<LoadedHandle> All;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    All = Owners;
  }
  std::erase_if(All, [&](const LoadedHandle &O) { return O.Context && O.Context != Context; });
  if (All.empty())
    return;
  if (Driver.CtxPushCurrent(Context) != CUDA_SUCCESS)
    return lose("a context cannot be entered");
  CUresult Ended = Driver.CtxSynchronize();
  if (Ended == CUDA_SUCCESS)
    for (const LoadedHandle &From : All)
      for (const std::string &Name : Variables)
        readVariable(Context, From, Name);
  CUcontext Popped = nullptr;
  Driver.CtxPopCurrent(&Popped);
  if (Ended != CUDA_SUCCESS)
    lose("a kernel failed");
}

void CountedRun::readVariable(CUcontext Context, const LoadedHandle &From,
                              const std::string &Name) {
  CUdeviceptr Base = 0;
  size_t Bytes = 0;
  CUresult Found = From.Context
                       ? Driver.ModuleGetGlobal(&Base, &Bytes, From.module(), Name.c_str())
                       : Driver.LibraryGetGlobal(&Base, &Bytes, From.library(), Name.c_str());
  // Each image has only its own variables.
  if (Found == CUDA_ERROR_NOT_FOUND)
    return;
  std::vector<uint64_t> Rows(Bytes / sizeof(uint64_t));
  if (Found != CUDA_SUCCESS ||
      Driver.MemcpyDtoH(Rows.data(), Base, Rows.size() * sizeof(uint64_t)) != CUDA_SUCCESS)
    return lose("counters cannot be read");
  Place Read{Context, From.Handle, Name, std::vector<uint64_t>(Rows.size() / CounterCopies)};
  size_t Counters = Read.Sums.size();
  for (size_t I = 0; I < Counters * CounterCopies; ++I)
    Read.Sums[I % Counters] += Rows[I];
  std::lock_guard<std::mutex> Guard(Lock);
  Places[Base] = std::move(Read);
}

template <class F> void CountedRun::settle(F Gone) {
  std::lock_guard<std::mutex> Guard(Lock);
  for (auto It = Places.begin(); It != Places.end();) {
    if (!Gone(It->second)) {
      ++It;
      continue;
    }
    const Place &Read = It->second;
    for (size_t I = 0; I < Read.Sums.size(); ++I)
      if (Read.Sums[I])
        Settled[Read.Variable][I] += Read.Sums[I];
    It = Places.erase(It);
  }
}

void CountedRun::lose(const std::string &Why) { File.addOnce(UncountedRecord{Why}); }

void CountedRun::finish() {
  readAll();
  settle([](const Place &) { return true; });
  std::string Lines;
  std::lock_guard<std::mutex> Guard(Lock);
  for (const auto &[Variable, Counts] : Settled)
    for (const auto &[Counter, Count] : Counts)
      Lines += recordLine(CountedVariable{Variable, Counter, Count});
  File.append(Lines);
}
