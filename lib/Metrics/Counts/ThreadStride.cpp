#include "Metrics/Counts/ThreadStride.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace carve;
using namespace llvm;

/// The length of a chain of definitions after which the search gives up.
static constexpr unsigned DeepestChain = 64;
/// The number of steps for one address after which the search gives up.
static constexpr unsigned MostSteps = 4096;
static constexpr unsigned WarpSize = 32;

ThreadStrides::ThreadStrides(const PtxFunction &F, unsigned ThreadsPerBlockX,
                             bool ParametersUniform)
    : ThreadsPerBlockX(ThreadsPerBlockX), ParametersUniform(ParametersUniform) {
  for (const PtxInstruction &I : F.Code)
    if (I.hasResult())
      for (const std::string &Name : I.Operands.front().Names)
        Definitions[Name].push_back(&I);
}

ThreadStrides::Value ThreadStrides::special(StringRef Name) const {
  if (Name == "%tid.x" || Name == "%laneid")
    return ThreadValue{1, std::nullopt, false};
  if (Name == "%ntid.x" && ThreadsPerBlockX)
    return ThreadValue{0, ThreadsPerBlockX, false};
  static constexpr StringLiteral Uniform[] = {
      "%tid.",    "%ntid.",   "%ctaid.", "%nctaid.", "%smid",  "%gridid", "%warpid",
      "%nwarpid", "%cluster", "%nsmid",  "%dynamic", "%total", "%envreg", "%WARP_SZ"};
  if (any_of(Uniform, [&](StringRef Prefix) { return Name.starts_with(Prefix); }))
    return ThreadValue{};
  return std::nullopt;
}

static bool isWhole(const PtxInstruction &I) {
  return none_of(I.Modifiers, [](StringRef M) {
    return M == ".f32" || M == ".f64" || M == ".f16" || M == ".f16x2" || M == ".bf16";
  });
}

using Value = std::optional<ThreadValue>;

// Registers wrap around, and hash functions rely on it, so the arithmetic is unsigned.
static int64_t plus(int64_t A, int64_t B) {
  return static_cast<int64_t>(static_cast<uint64_t>(A) + static_cast<uint64_t>(B));
}
static int64_t times(int64_t A, int64_t B) {
  return static_cast<int64_t>(static_cast<uint64_t>(A) * static_cast<uint64_t>(B));
}

static uint64_t magnitude(int64_t A) { return A < 0 ? -static_cast<uint64_t>(A) : A; }

static Value sum(const ThreadValue &A, const ThreadValue &B, int64_t Sign) {
  ThreadValue R{plus(A.Stride, times(Sign, B.Stride)), std::nullopt, A.Recurs || B.Recurs};
  if (A.Constant && B.Constant)
    R.Constant = plus(*A.Constant, times(Sign, *B.Constant));
  return R;
}

static Value product(const ThreadValue &A, const ThreadValue &B) {
  if (A.Constant && B.Constant)
    return ThreadValue{0, times(*A.Constant, *B.Constant), false};
  if (A.Constant || B.Constant)
    return ThreadValue{A.Constant ? times(*A.Constant, B.Stride) : times(*B.Constant, A.Stride),
                       std::nullopt, false};
  if (!A.Stride && !B.Stride)
    return ThreadValue{};
  return std::nullopt;
}

/// Returns the value of `and`, `or` and shifts for operands that differ between threads.
static Value bitwise(const PtxInstruction &I, const ThreadValue &A, const ThreadValue &B) {
  if (!A.Stride && !B.Stride)
    return ThreadValue{};
  if (!B.Constant)
    return std::nullopt;
  int64_t C = *B.Constant;
  if (I.Opcode == "shl" && C >= 0 && C < 63)
    return ThreadValue{times(A.Stride, int64_t(1) << C), std::nullopt, false};
  // nvcc writes an addition as `or` if the added constant has only bits below the lowest bit of the
  // stride.
  if (I.Opcode == "or" && A.Stride && C >= 0 && uint64_t(C) < magnitude(A.Stride))
    return A;
  // This gives the lane in a warp, because a warp starts at a multiple of 32.
  if (I.Opcode == "and" && A.Stride == 1 && C >= WarpSize - 1 && isPowerOf2_64(uint64_t(C) + 1))
    return A;
  if (I.Opcode == "shr" && A.Stride == 1 && C >= 5)
    return ThreadValue{};
  return std::nullopt;
}

Value ThreadStrides::resultOf(const PtxInstruction &I, unsigned Depth) {
  StringRef Op = I.Opcode;
  if (Op == "ld" && I.has(".param"))
    return ParametersUniform ? Value(ThreadValue{}) : std::nullopt;
  if (Op == "ld" && !I.Operands.empty()) {
    // A value that all threads load from one address is the same for all of them.
    Value Address = valueOf(I.Operands.back().name(), Depth);
    return Address && !Address->Stride ? Value(ThreadValue{}) : std::nullopt;
  }
  if (Op == "atom" || Op == "shfl" || Op == "call" || Op.starts_with("tex"))
    return std::nullopt;
  SmallVector<ThreadValue, 4> In;
  for (const PtxOperand &O : drop_begin(I.Operands)) {
    Value V = valueOf(O.name(), Depth);
    if (!V)
      return std::nullopt;
    In.push_back(*V);
  }
  bool Sums = is_contained({"mov", "cvt", "cvta", "add", "sub"}, Op) && isWhole(I);
  if (!Sums && any_of(In, [](const ThreadValue &V) { return V.Recurs; }))
    return std::nullopt;
  bool AllUniform = none_of(In, [](const ThreadValue &V) { return V.Stride != 0; });
  if (!isWhole(I))
    return AllUniform ? Value(ThreadValue{}) : std::nullopt;
  if ((Op == "mov" || Op == "cvt" || Op == "cvta") && In.size() == 1)
    return In[0];
  if ((Op == "add" || Op == "sub") && In.size() == 2)
    return sum(In[0], In[1], Op == "add" ? 1 : -1);
  if (Op == "mul" && In.size() == 2 && !I.has(".hi"))
    return product(In[0], In[1]);
  if (Op == "mad" && In.size() == 3 && !I.has(".hi")) {
    Value P = product(In[0], In[1]);
    return P ? sum(*P, In[2], 1) : std::nullopt;
  }
  if (is_contained({"shl", "shr", "and", "or"}, Op) && In.size() == 2)
    return bitwise(I, In[0], In[1]);
  return AllUniform ? Value(ThreadValue{}) : std::nullopt;
}

Value ThreadStrides::valueOf(StringRef Name, unsigned Depth) {
  int64_t Number = 0;
  if (!Name.getAsInteger(0, Number))
    return ThreadValue{0, Number, false};
  if (auto It = Known.find(Name); It != Known.end())
    return It->second;
  auto Its = Definitions.find(Name);
  if (Its == Definitions.end()) {
    if (Value V = special(Name))
      return V;
    // Any other name is a variable, and its address is the same for all threads.
    return Name.starts_with("%") ? std::nullopt : Value(ThreadValue{});
  }
  if (Depth > DeepestChain || StepsLeft == 0)
    return std::nullopt;
  --StepsLeft;
  if (Active.lookup(Name))
    return ThreadValue{0, std::nullopt, true};
  Active[Name] = true;
  Value Result = merged(Its->second, Depth);
  Active[Name] = false;
  if (StepsLeft && (!Result || !Result->Recurs))
    Known[Name] = Result;
  return Result;
}

Value ThreadStrides::merged(ArrayRef<const PtxInstruction *> Its, unsigned Depth) {
  Value Result;
  for (const PtxInstruction *I : Its) {
    Value V = resultOf(*I, Depth + 1);
    if (!V || (V->Recurs && V->Stride))
      return std::nullopt;
    if (Its.size() > 1)
      V->Constant.reset();
    if (!Result || Result->Recurs)
      Result = V;
    else if (!V->Recurs && V->Stride != Result->Stride)
      return std::nullopt;
  }
  return Result;
}

std::optional<int64_t> ThreadStrides::strideOf(const PtxOperand &Address) {
  StepsLeft = MostSteps;
  Value V = valueOf(Address.name(), 0);
  return V && !V->Recurs ? std::optional(V->Stride) : std::nullopt;
}
